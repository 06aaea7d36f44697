"""Tollgates on Spark: the queries as jobs written by hand, and as Penstock runs them, over history and live."""
