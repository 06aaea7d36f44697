-- Comparison (SPARQL 1.1 §17.3, §17.4.1.7): -1, 0 or 1; 2 where neither is less (NaN); NULL where there is no order.

CREATE OR REPLACE TEMP MACRO sparql_order(x, y) AS (x > y)::TINYINT - (x < y)::TINYINT;
CREATE OR REPLACE TEMP MACRO sparql_floating_order(x, y) AS
  CASE WHEN isnan(x) OR isnan(y) THEN 2 ELSE sparql_order(x, y) END;

-- An integer too large to be scaled is further from zero than any decimal.
CREATE OR REPLACE TEMP MACRO sparql_exact_order(a, b) AS
  CASE
    WHEN left(a, 1) <> 'd' AND abs(sparql_as_integer(a)) > 170141183460469231731::HUGEINT AND sparql_as_decimal(b) IS NOT NULL
    THEN sign(sparql_as_integer(a))
    WHEN left(b, 1) <> 'd' AND abs(sparql_as_integer(b)) > 170141183460469231731::HUGEINT AND sparql_as_decimal(a) IS NOT NULL
    THEN -sign(sparql_as_integer(b))
    ELSE sparql_order(sparql_as_decimal(a), sparql_as_decimal(b))
  END;

-- With a time zone on one side only, there is an order where 14 hours do not change it.
CREATE OR REPLACE TEMP MACRO sparql_instant_order(a, b) AS
  CASE
    WHEN sparql_has_zone(a) = sparql_has_zone(b) THEN sparql_order(sparql_as_instant(a), sparql_as_instant(b))
    WHEN abs(sparql_as_instant(a) - sparql_as_instant(b)) > 50400 * sparql_one()
    THEN sparql_order(sparql_as_instant(a), sparql_as_instant(b))
  END;

CREATE OR REPLACE TEMP MACRO sparql_compare(a, b) AS
  CASE
    WHEN sparql_are_integers(a, b) THEN sparql_order(sparql_as_integer(a), sparql_as_integer(b))
    WHEN sparql_are_exact(a, b) THEN sparql_exact_order(a, b)
    WHEN sparql_are_numbers(a, b) THEN
      CASE
        WHEN sparql_has_double(a, b) THEN sparql_floating_order(sparql_as_double(a), sparql_as_double(b))
        ELSE sparql_floating_order(sparql_as_float(a), sparql_as_float(b))
      END
    WHEN left(a, 1) <> left(b, 1) THEN NULL
    WHEN left(a, 1) = 'S' THEN sparql_order(a, b)
    WHEN left(a, 1) = 'L' THEN CASE WHEN split_part(a, ' ', 1) = split_part(b, ' ', 1) THEN sparql_order(a, b) END
    WHEN left(a, 1) = 'b' THEN sparql_order(sparql_as_boolean(a), sparql_as_boolean(b))
    WHEN left(a, 1) = 't' OR (left(a, 1) = 'O' AND split_part(a, ' ', 1) = split_part(b, ' ', 1)) THEN sparql_instant_order(a, b)
  END;

-- Whether a literal's value is known: a recognised datatype and a lexical form of it.
CREATE OR REPLACE TEMP MACRO sparql_has_value(term) AS
  CASE
    WHEN left(term, 1) IN ('S', 'L') THEN TRUE
    WHEN left(term, 1) = 'b' THEN sparql_as_boolean(term) IS NOT NULL
    WHEN left(term, 1) IN ('t', 'O') THEN sparql_as_instant(term) IS NOT NULL
    ELSE sparql_is_numeric(term)
  END;

-- Literals of different values are different only where both values are known; else there is no telling.
CREATE OR REPLACE TEMP MACRO sparql_equal(a, b) AS
  CASE
    WHEN a = b THEN a NOT IN ('eNaN', 'fNaN')
    WHEN left(a, 1) IN ('I', 'B') OR left(b, 1) IN ('I', 'B') THEN a = b
    WHEN sparql_has_value(a) AND sparql_has_value(b) THEN coalesce(sparql_compare(a, b) = 0, FALSE)
  END;

CREATE OR REPLACE TEMP MACRO sparql_ebv(term) AS
  CASE
    WHEN left(term, 1) = 'b' THEN term IN ('btrue', 'b1')
    WHEN left(term, 1) = 'S' THEN term <> 'S'
    WHEN left(term, 1) = 'L' THEN right(term, 1) <> ' ' OR sparql_lexical(term) <> ''
    WHEN left(term, 1) IN ('i', 'n', 'd') THEN sparql_is_numeric(term) AND regexp_matches(sparql_lexical(term), '[1-9]')
    WHEN left(term, 1) IN ('e', 'f') THEN
      coalesce(sparql_as_double(term) <> 0 AND NOT isnan(sparql_as_double(term)), FALSE)
  END;
