"""From text to syntax tree and back: tokens, one SPARQL 1.1 parser, one small module per dialect, the printer."""

from penstock.syntax.query_reader import ParsedQuery, parse, read

__all__ = ["ParsedQuery", "parse", "read"]
