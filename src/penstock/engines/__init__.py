"""Where plans run: the embedded engine (DuckDB)."""
