-- Aggregates: the macros that both engines share.

CREATE OR REPLACE TEMP MACRO sparql_read_integer(term) AS CASE WHEN contains('in', left(term, 1)) THEN sparql_as_integer(term) END;
CREATE OR REPLACE TEMP MACRO sparql_read_decimal(term) AS CASE WHEN left(term, 1) = 'd' THEN sparql_decimal_value(term) END;
CREATE OR REPLACE TEMP MACRO sparql_read_floating(term) AS CASE WHEN contains('ef', left(term, 1)) THEN sparql_double_value(term) END;

-- The kind of a number: 0 is an integer, 1 a decimal, 2 a float, 3 a double; 4 is not a number. The kind of a sum is
-- the greatest. A sweep counts the kinds, each with a weight, so that the greatest of the remaining ones can be
-- determined.
CREATE OR REPLACE TEMP MACRO sparql_sum_kind(term, integer, decimal, floating) AS
  CASE
    WHEN integer IS NOT NULL THEN 0
    WHEN decimal IS NOT NULL THEN 1
    WHEN floating IS NULL THEN 4
    WHEN left(term, 1) = 'f' THEN 2
    ELSE 3
  END;
CREATE OR REPLACE TEMP MACRO sparql_least(integer, other) AS least(sparql_ranked_integer(integer), other).term;
CREATE OR REPLACE TEMP MACRO sparql_greatest(integer, other) AS greatest(sparql_ranked_integer(integer), other).term;
