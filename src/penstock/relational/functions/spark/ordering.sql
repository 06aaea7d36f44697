-- ORDER BY (SPARQL 1.1 §15.1): unbound, blank nodes, IRIs, literals. Among literals: numbers by value, dates and times, durations,
-- booleans, then all others by their text.

CREATE OR REPLACE TEMP MACRO sparql_order_place(term) AS
  CASE WHEN left(term, 1) = 'b' THEN CAST(CAST(sparql_as_boolean(term) AS INT) AS DECIMAL(38, 0)) ELSE sparql_as_instant(term) END;
-- The difference between a value and its double, in whole numbers and the rest, because doubles cannot distinguish
-- large integers and long decimals. (Terms of one value are equal, of whichever type.)
CREATE OR REPLACE TEMP MACRO sparql_beyond_double(term, number) AS
  try_subtract(sparql_decimal_of(substr(term, 2)), sparql_double_as_decimal(number));
CREATE OR REPLACE TEMP MACRO sparql_order_key(term) AS
  transform(array(named_struct('number', sparql_as_double(term), 'place', sparql_order_place(term))), v ->
    named_struct(
      'class', sparql_order_class(term, v.number, v.place),
      'number', coalesce(v.number, 0D) + 0D,
      'rest',
        CAST(
          coalesce(
            v.place,
            CASE
              WHEN length(term) <= 16 THEN 0BD
              WHEN left(term, 1) = 'd' THEN sparql_whole_quotient(sparql_beyond_double(term, v.number), sparql_one())
              WHEN contains('in', left(term, 1)) THEN try_subtract(sparql_integer_value(term), sparql_double_as_integer(v.number))
            END,
            0BD
          ) AS DECIMAL(38, 0)
        ),
      'fraction',
        CAST(
          CASE
            WHEN length(term) > 16 AND left(term, 1) = 'd'
            THEN coalesce(sparql_beyond_double(term, v.number) % sparql_one(), 0BD)
            ELSE 0BD
          END AS DECIMAL(38, 0)
        ),
      'text',
        CASE
          WHEN v.number IS NOT NULL OR v.place IS NOT NULL THEN ''
          WHEN contains('IB', left(term, 1)) THEN term
          ELSE sparql_lexical(term)
        END,
      'type', sparql_order_type(term)
    )
  )[0];
