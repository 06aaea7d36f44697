"""Recursive descent, one method per grammar production; the modules follow the order of the SPARQL 1.1 grammar.

`cursor` ← `terms` ← `paths` ← `expressions` ← `triples` ← `patterns` ← `queries`, and then a module per dialect.
"""
