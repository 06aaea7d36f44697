"""The functions and operators of SPARQL 1.1 as SQL: macros (library), and expressions that call them (catalogue)."""
