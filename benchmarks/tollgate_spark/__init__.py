"""Tollgates on Spark: the queries as hand-written jobs and on Penstock, over history and live."""
