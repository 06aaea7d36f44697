-- ORDER BY (SPARQL 1.1 §15.1): unbound, blank nodes, IRIs, literals. Among literals: numbers by value, dates and times, durations,
-- booleans, then all others by their text.

CREATE OR REPLACE TEMP MACRO sparql_order_place(term) AS
  CASE WHEN left(term, 1) = 'b' THEN sparql_as_boolean(term)::HUGEINT ELSE sparql_as_instant(term) END;
-- The difference between a value and its double, in whole numbers and the rest, because doubles cannot distinguish
-- large integers and long decimals. (Terms of one value are equal, of whichever type.)
CREATE OR REPLACE TEMP MACRO sparql_beyond_double(term, number) AS
  TRY(TRY_CAST(substr(term, 2) AS DECIMAL(38, 18)) - sparql_double_as_decimal(number));
CREATE OR REPLACE TEMP MACRO sparql_order_key(term) AS
  list_transform([{'number': sparql_as_double(term), 'place': sparql_order_place(term)}], lambda sparql_v:
    {
      'class': sparql_order_class(term, sparql_v.number, sparql_v.place),
      'number': coalesce(sparql_v.number, 0) + 0::DOUBLE,
      'rest':
        coalesce(
          sparql_v.place,
          CASE
            WHEN length(term) <= 16 THEN 0
            WHEN left(term, 1) = 'd' THEN trunc(sparql_beyond_double(term, sparql_v.number))::HUGEINT
            WHEN contains('in', left(term, 1)) THEN TRY(sparql_integer_value(term) - sparql_v.number::HUGEINT)
          END,
          0
        ),
      'fraction':
        CASE
          WHEN length(term) > 16 AND left(term, 1) = 'd' THEN coalesce(sparql_beyond_double(term, sparql_v.number) % 1, 0)
          ELSE 0
        END::DECIMAL(38, 18),
      'text':
        CASE
          WHEN sparql_v.number IS NOT NULL OR sparql_v.place IS NOT NULL THEN ''
          WHEN contains('IB', left(term, 1)) THEN term
          ELSE sparql_lexical(term)
        END,
      'type': sparql_order_type(term)
    }
  )[1];
