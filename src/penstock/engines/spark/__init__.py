"""The engine for data that outgrows one process: Apache Spark, through PySpark."""
