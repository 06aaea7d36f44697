-- Strings (SPARQL 1.1 §17.4.3): simple ones and those with a language; a function's result has its first argument's kind.

CREATE OR REPLACE TEMP MACRO sparql_text(term) AS
  CASE left(term, 1) WHEN 'S' THEN substr(term, 2) WHEN 'L' THEN substr(term, instr(term, ' ') + 1) END;

-- The prefix of a string's text: its tag and its language.
CREATE OR REPLACE TEMP MACRO sparql_string_kind(term) AS
  CASE left(term, 1) WHEN 'S' THEN 'S' WHEN 'L' THEN left(term, instr(term, ' ')) END;

-- Argument compatibility (§17.4.3.1.2).
CREATE OR REPLACE TEMP MACRO sparql_are_compatible(a, b) AS
  CASE
    WHEN left(b, 1) = 'S' THEN contains('SL', left(a, 1))
    ELSE left(b, 1) = 'L' AND sparql_starts_with(a, left(b, instr(b, ' ')))
  END;
CREATE OR REPLACE TEMP MACRO sparql_contains(a, b) AS
  CASE WHEN sparql_are_compatible(a, b) THEN contains(sparql_text(a), sparql_text(b)) END;
CREATE OR REPLACE TEMP MACRO sparql_strstarts(a, b) AS
  CASE WHEN sparql_are_compatible(a, b) THEN sparql_starts_with(sparql_text(a), sparql_text(b)) END;
CREATE OR REPLACE TEMP MACRO sparql_strbefore(a, b) AS
  CASE
    WHEN NOT sparql_are_compatible(a, b) THEN NULL
    WHEN contains(sparql_text(a), sparql_text(b))
    THEN sparql_string_kind(a) || left(sparql_text(a), instr(sparql_text(a), sparql_text(b)) - 1)
    WHEN sparql_are_compatible(a, b) THEN 'S'
  END;
CREATE OR REPLACE TEMP MACRO sparql_strafter(a, b) AS
  CASE
    WHEN NOT sparql_are_compatible(a, b) THEN NULL
    WHEN contains(sparql_text(a), sparql_text(b))
    THEN sparql_string_kind(a) || substr(sparql_text(a), instr(sparql_text(a), sparql_text(b)) + length(sparql_text(b)))
    WHEN sparql_are_compatible(a, b) THEN 'S'
  END;
CREATE OR REPLACE TEMP MACRO sparql_simple_text(term) AS CASE WHEN left(term, 1) = 'S' THEN substr(term, 2) END;
CREATE OR REPLACE TEMP MACRO sparql_pattern(pattern, flags) AS
  sparql_flagged(sparql_simple_text(pattern), sparql_simple_text(flags));
CREATE OR REPLACE TEMP MACRO sparql_replacement(term) AS sparql_rewrite(sparql_simple_text(term));
CREATE OR REPLACE TEMP MACRO sparql_iri(term) AS
  CASE
    WHEN left(term, 1) = 'I' THEN term
    WHEN left(term, 1) = 'S' AND sparql_is_iri_text(substr(term, 2)) AND sparql_is_absolute(substr(term, 2)) THEN 'I' || substr(term, 2)
  END;
CREATE OR REPLACE TEMP MACRO sparql_iri_in(term, scheme, authority, directory, page) AS
  CASE
    WHEN left(term, 1) = 'I' THEN term
    WHEN left(term, 1) = 'S' AND sparql_is_iri_text(substr(term, 2))
    THEN 'I' || sparql_resolved(substr(term, 2), scheme, authority, directory, page)
  END;
