"""Timestamped RDF, one module per format: each yields the elements of an input and reports malformed input."""
