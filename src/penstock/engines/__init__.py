"""Stores of windows, and the statements over them: on DuckDB, and on Spark."""
