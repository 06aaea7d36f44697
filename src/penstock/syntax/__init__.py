"""From text to syntax tree and back: tokens, one SPARQL 1.1 parser, one small module per dialect, the printer."""

from penstock.syntax.reading import Reading, parse, read

__all__ = ["Reading", "parse", "read"]
