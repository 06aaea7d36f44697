"""Algebra to SQL over intervals; the SPARQL functions as SQL (architecture.md)."""
