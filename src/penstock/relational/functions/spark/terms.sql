-- Terms (rdf/encoding.py): the tag, the parts, and what kind of term it is. NULL is unbound, and an error.

CREATE OR REPLACE TEMP MACRO sparql_strlang(term, language) AS
  CASE
    WHEN left(term, 1) = 'S' AND language RLIKE '^S[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*+\\z'
    THEN 'L' || lower(substr(language, 2)) || ' ' || substr(term, 2)
  END;

-- A step of a deep expression (nesting.py): the stack without the operands of the step, and with its value on top.
CREATE OR REPLACE TEMP MACRO sparql_pushed(stack, taken, value) AS concat(array(value), slice(stack, taken + 1, size(stack)));

CREATE OR REPLACE TEMP MACRO sparql_starts_with(text, start) AS startswith(text, start);
