-- ORDER BY (SPARQL 1.1 §15.1): unbound, blank nodes, IRIs, literals. Among literals: numbers by value, dates and times, booleans,
-- then all other literals by their text.

CREATE OR REPLACE TEMP MACRO sparql_order_class(term) AS
  CASE
    WHEN term IS NULL THEN 0
    WHEN left(term, 1) = 'B' THEN 1
    WHEN left(term, 1) = 'I' THEN 2
    WHEN left(term, 1) IN ('S', 'L') THEN 9
    WHEN left(term, 1) IN ('i', 'd', 'e', 'f', 'n') THEN CASE WHEN sparql_as_double(term) IS NOT NULL THEN 3 ELSE 9 END
    WHEN left(term, 1) = 'b' THEN CASE WHEN sparql_as_boolean(term) IS NOT NULL THEN 8 ELSE 9 END
    WHEN sparql_as_instant(term) IS NULL THEN 9
    WHEN left(term, 1) = 't' THEN 4
    WHEN sparql_is_date(term) THEN 5
    WHEN sparql_is_time(term) THEN 6
    ELSE 7
  END::TINYINT;
CREATE OR REPLACE TEMP MACRO sparql_order_number(term) AS
  CASE WHEN left(term, 1) IN ('i', 'd', 'e', 'f', 'n') THEN coalesce(sparql_as_double(term), 0) ELSE 0 END + 0::DOUBLE;
-- What a double cannot tell apart: large integers and long decimals; also the place of dates and times.
CREATE OR REPLACE TEMP MACRO sparql_order_rest(term) AS
  CASE
    WHEN left(term, 1) IN ('i', 'n') AND length(term) > 16 THEN
      coalesce(TRY(sparql_as_integer(term) - sparql_as_double(term)::HUGEINT), 0)
    WHEN left(term, 1) = 'd' AND length(term) > 16 THEN
      coalesce(TRY(sparql_as_decimal(term) - sparql_scaled(left(sparql_floating_text(sparql_as_double(term)), 40))), 0)
    WHEN left(term, 1) IN ('t', 'O') THEN coalesce(sparql_as_instant(term), 0)
    WHEN left(term, 1) = 'b' THEN (term IN ('btrue', 'b1'))::INTEGER
    ELSE 0
  END::HUGEINT;
CREATE OR REPLACE TEMP MACRO sparql_order_text(term) AS
  CASE WHEN sparql_order_class(term) IN (2, 9) THEN sparql_lexical(term) WHEN left(term, 1) = 'B' THEN term ELSE '' END;
-- Of two equal texts the one with a language, or another datatype, comes first.
CREATE OR REPLACE TEMP MACRO sparql_order_type(term) AS
  CASE WHEN sparql_order_class(term) = 9 THEN CASE WHEN left(term, 1) = 'S' THEN '~' WHEN left(term, 1) = 'L' THEN 'S' || split_part(term, ' ', 1) ELSE term END ELSE '' END;
