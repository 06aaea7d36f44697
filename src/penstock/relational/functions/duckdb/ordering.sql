-- ORDER BY (SPARQL 1.1 §15.1): unbound, blank nodes, IRIs, literals. Among literals: numbers by value, dates and times, durations,
-- booleans, then all others by their text.

CREATE OR REPLACE TEMP MACRO sparql_order_class(term) AS
  CASE
    WHEN term IS NULL THEN 0
    WHEN left(term, 1) = 'B' THEN 1
    WHEN left(term, 1) = 'I' THEN 2
    WHEN left(term, 1) IN ('S', 'L') THEN 9
    WHEN left(term, 1) IN ('i', 'n', 'd', 'e', 'f') THEN CASE WHEN sparql_is_number_form(term) THEN 3 ELSE 9 END
    WHEN left(term, 1) = 'b' THEN CASE WHEN sparql_as_boolean(term) IS NOT NULL THEN 8 ELSE 9 END
    WHEN sparql_moment(term) IS NULL THEN CASE WHEN sparql_is_day_time(term) OR sparql_is_year_month(term) THEN 7 ELSE 9 END
    WHEN left(term, 1) = 't' THEN 4
    WHEN sparql_is_date(term) THEN 5
    ELSE 6
  END;
-- What a double cannot tell apart: large integers, and long decimals. It is the value less the double's, in whole numbers and the
-- rest. (Terms of one value are equal, of whichever type.)
CREATE OR REPLACE TEMP MACRO sparql_beyond_double(term) AS
  TRY(TRY_CAST(substr(term, 2) AS DECIMAL(38, 18)) - sparql_double_as_decimal(TRY_CAST(substr(term, 2) AS DOUBLE)));
CREATE OR REPLACE TEMP MACRO sparql_order_rest(term) AS
  CASE
    WHEN left(term, 1) IN ('t', 'O') THEN sparql_as_instant(term)
    WHEN left(term, 1) = 'b' THEN (term IN ('btrue', 'b1'))::INTEGER
    WHEN left(term, 1) IN ('i', 'n') AND length(term) > 16 THEN
      TRY(TRY_CAST(sparql_numeral(term) AS HUGEINT) - TRY_CAST(sparql_numeral(term) AS DOUBLE)::HUGEINT)
    WHEN left(term, 1) = 'd' AND length(term) > 16 THEN floor(sparql_beyond_double(term))::HUGEINT
  END;
CREATE OR REPLACE TEMP MACRO sparql_order_fraction(term) AS
  CASE
    WHEN left(term, 1) = 'd' AND length(term) > 16 THEN sparql_beyond_double(term) - floor(sparql_beyond_double(term))
  END;
-- Of two equal texts the one with another datatype comes first, then one with a language, then the simple string.
CREATE OR REPLACE TEMP MACRO sparql_order_text(term, class) AS
  CASE
    WHEN left(term, 1) IN ('I', 'B') THEN term
    WHEN left(term, 1) IN ('S', 'L') OR class = 9 THEN sparql_lexical(term)
    ELSE ''
  END;
CREATE OR REPLACE TEMP MACRO sparql_order_type(term) AS
  CASE
    WHEN left(term, 1) = 'S' THEN '~'
    WHEN left(term, 1) = 'L' THEN 'S' || split_part(term, ' ', 1)
    WHEN left(term, 1) = 'O' THEN split_part(term, ' ', 1)
    ELSE ''
  END;
CREATE OR REPLACE TEMP MACRO sparql_order_key(term) AS
  {
    'class': sparql_order_class(term),
    'number': coalesce(sparql_as_double(term), 0) + 0::DOUBLE,
    'rest': coalesce(sparql_order_rest(term), 0)::HUGEINT,
    'fraction': coalesce(sparql_order_fraction(term), 0)::DECIMAL(38, 18),
    'text': sparql_order_text(term, sparql_order_class(term)),
    'type': sparql_order_type(term)
  };
