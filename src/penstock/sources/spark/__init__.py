"""Streams and graphs as Spark DataFrames: encoded terms (rdf/encoding.py), timestamps, and the order of the input."""
