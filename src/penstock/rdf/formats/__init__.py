"""Timestamped RDF, one format a module: each gives the elements of an input, and reports what is none."""
