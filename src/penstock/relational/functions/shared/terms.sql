-- Terms (rdf/encoding.py): the tag, the parts, and what kind of term it is. NULL is unbound, and an error.

CREATE OR REPLACE TEMP MACRO sparql_is_iri(term) AS left(term, 1) = 'I';
CREATE OR REPLACE TEMP MACRO sparql_is_blank(term) AS left(term, 1) = 'B';
CREATE OR REPLACE TEMP MACRO sparql_is_literal(term) AS NOT contains('IB', left(term, 1));

-- The text of a literal or an IRI; NULL for a blank node.
CREATE OR REPLACE TEMP MACRO sparql_lexical(term) AS
  CASE
    WHEN contains('SiIdefbt', left(term, 1)) THEN substr(term, 2)
    WHEN left(term, 1) <> 'B' THEN substr(term, instr(term, ' ') + 1)
  END;
CREATE OR REPLACE TEMP MACRO sparql_str(term) AS 'S' || sparql_lexical(term);
CREATE OR REPLACE TEMP MACRO sparql_lang(term) AS
  CASE WHEN left(term, 1) = 'L' THEN 'S' || split_part(substr(term, 2), ' ', 1) WHEN sparql_is_literal(term) THEN 'S' END;
CREATE OR REPLACE TEMP MACRO sparql_datatype(term) AS
  CASE left(term, 1)
    WHEN 'S' THEN 'Ihttp://www.w3.org/2001/XMLSchema#string'
    WHEN 'L' THEN 'Ihttp://www.w3.org/1999/02/22-rdf-syntax-ns#langString'
    WHEN 'i' THEN 'Ihttp://www.w3.org/2001/XMLSchema#integer'
    WHEN 'd' THEN 'Ihttp://www.w3.org/2001/XMLSchema#decimal'
    WHEN 'e' THEN 'Ihttp://www.w3.org/2001/XMLSchema#double'
    WHEN 'f' THEN 'Ihttp://www.w3.org/2001/XMLSchema#float'
    WHEN 'b' THEN 'Ihttp://www.w3.org/2001/XMLSchema#boolean'
    WHEN 't' THEN 'Ihttp://www.w3.org/2001/XMLSchema#dateTime'
    WHEN 'n' THEN 'Ihttp://www.w3.org/2001/XMLSchema#' || split_part(substr(term, 2), ' ', 1)
    WHEN 'O' THEN 'I' || split_part(substr(term, 2), ' ', 1)
  END;

-- The encoding of a literal with a datatype, which is an IRI. (A language string has no such form.)
CREATE OR REPLACE TEMP MACRO sparql_typed(lexical, datatype) AS
  CASE
    WHEN NOT sparql_starts_with(datatype, 'http://www.w3.org/2001/XMLSchema#') THEN
      CASE WHEN datatype <> 'http://www.w3.org/1999/02/22-rdf-syntax-ns#langString' THEN 'O' || datatype || ' ' || lexical END
    WHEN substr(datatype, 34) = 'string' THEN 'S' || lexical
    WHEN substr(datatype, 34) = 'integer' THEN 'i' || lexical
    WHEN substr(datatype, 34) = 'decimal' THEN 'd' || lexical
    WHEN substr(datatype, 34) = 'double' THEN 'e' || lexical
    WHEN substr(datatype, 34) = 'float' THEN 'f' || lexical
    WHEN substr(datatype, 34) = 'boolean' THEN 'b' || lexical
    WHEN substr(datatype, 34) = 'dateTime' THEN 't' || lexical
    WHEN substr(datatype, 34) IN (
      'int', 'long', 'short', 'byte', 'nonNegativeInteger', 'positiveInteger', 'nonPositiveInteger',
      'negativeInteger', 'unsignedInt', 'unsignedLong', 'unsignedShort', 'unsignedByte'
    ) THEN 'n' || substr(datatype, 34) || ' ' || lexical
    ELSE 'O' || datatype || ' ' || lexical
  END;
CREATE OR REPLACE TEMP MACRO sparql_strdt(term, datatype) AS
  CASE WHEN left(term, 1) = 'S' AND left(datatype, 1) = 'I' THEN sparql_typed(substr(term, 2), substr(datatype, 2)) END;
CREATE OR REPLACE TEMP MACRO sparql_same_term(a, b) AS a = b;

-- Booleans and effective boolean values (SPARQL 1.1 §17.2.2; an ill-formed number or boolean is false).
CREATE OR REPLACE TEMP MACRO sparql_boolean_term(condition) AS CASE condition WHEN TRUE THEN 'btrue' WHEN FALSE THEN 'bfalse' END;
CREATE OR REPLACE TEMP MACRO sparql_as_boolean(term) AS
  CASE WHEN term IN ('btrue', 'b1') THEN TRUE WHEN term IN ('bfalse', 'b0') THEN FALSE END;
