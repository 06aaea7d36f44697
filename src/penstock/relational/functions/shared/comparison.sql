-- Comparison (SPARQL 1.1 §17.3, §17.4.1.7) of terms that are not numbers; the compiler compares numbers
-- (arithmetic.py), as it does arithmetic. Each operator and family of values has a macro, because the compiler often
-- knows the family: that of a constant, or of a function's result. `a > b` is `b < a`.

-- Strings, in the order of their code points; strings with a language only compare with those of the same language.
CREATE OR REPLACE TEMP MACRO sparql_are_strings(a, b) AS
  (left(a, 1) = 'S' AND left(b, 1) = 'S')
  OR (left(a, 1) = 'L' AND sparql_starts_with(b, left(a, instr(a, ' '))));
CREATE OR REPLACE TEMP MACRO sparql_string_less(a, b) AS CASE WHEN sparql_are_strings(a, b) THEN a < b END;
CREATE OR REPLACE TEMP MACRO sparql_string_at_most(a, b) AS CASE WHEN sparql_are_strings(a, b) THEN a <= b END;
CREATE OR REPLACE TEMP MACRO sparql_is_before(x, y) AS x.at < y.at - sparql_margin(x, y);
CREATE OR REPLACE TEMP MACRO sparql_is_at(x, y) AS x.has_zone = y.has_zone AND x.at = y.at;
CREATE OR REPLACE TEMP MACRO sparql_boolean_less(a, b) AS sparql_as_boolean(a) < sparql_as_boolean(b);
CREATE OR REPLACE TEMP MACRO sparql_boolean_at_most(a, b) AS sparql_as_boolean(a) <= sparql_as_boolean(b);

-- Any two terms that are not numbers. There is no order between families, and none of IRIs and blank nodes.
CREATE OR REPLACE TEMP MACRO sparql_less(a, b) AS
  CASE
    WHEN contains('SL', left(a, 1)) THEN sparql_string_less(a, b)
    WHEN contains('tO', left(a, 1)) THEN sparql_time_less(a, b)
    WHEN left(a, 1) = 'b' THEN sparql_boolean_less(a, b)
  END;
CREATE OR REPLACE TEMP MACRO sparql_at_most(a, b) AS
  CASE
    WHEN contains('SL', left(a, 1)) THEN sparql_string_at_most(a, b)
    WHEN contains('tO', left(a, 1)) THEN sparql_time_at_most(a, b)
    WHEN left(a, 1) = 'b' THEN sparql_boolean_at_most(a, b)
  END;

-- Equality. Literals of different values differ only if both values are known: the datatype is recognised, and the
-- lexical form is valid for it. Otherwise the result is an error (`at` is NULL). A string with a language is not a
-- value of any datatype.
CREATE OR REPLACE TEMP MACRO sparql_place(term) AS
  CASE
    WHEN contains('tO', left(term, 1)) THEN sparql_as_instant(term)
    WHEN left(term, 1) = 'b' THEN CASE WHEN term IN ('btrue', 'b1') THEN 1 WHEN term IN ('bfalse', 'b0') THEN 0 END
    WHEN contains('SLIB', left(term, 1)) OR sparql_is_numeric(term) THEN 0
  END;

-- A term and a string.
CREATE OR REPLACE TEMP MACRO sparql_equal_string(term, string) AS
  CASE
    WHEN contains('SIBL', left(term, 1)) THEN term = string
    WHEN string IS NOT NULL AND sparql_place(term) IS NOT NULL THEN FALSE
  END;
