-- ORDER BY (SPARQL 1.1 §15.1): unbound, blank nodes, IRIs, literals. Among literals: numbers by value, dates and times, durations,
-- booleans, then all others by their text.

CREATE OR REPLACE TEMP MACRO sparql_order_class(term, number, instant) AS
  CASE
    WHEN term IS NULL THEN 0
    WHEN left(term, 1) = 'B' THEN 1
    WHEN left(term, 1) = 'I' THEN 2
    WHEN number IS NOT NULL THEN 3
    WHEN left(term, 1) = 'b' AND sparql_as_boolean(term) IS NOT NULL THEN 8
    WHEN instant IS NULL THEN 9
    WHEN left(term, 1) = 't' THEN 4
    WHEN sparql_is_date(term) THEN 5
    WHEN sparql_is_time(term) THEN 6
    ELSE 7
  END;
-- What a double cannot tell apart: large integers and long decimals.
CREATE OR REPLACE TEMP MACRO sparql_order_rest(term, number) AS
  CASE
    WHEN length(term) < 17 THEN 0
    WHEN left(term, 1) IN ('i', 'n') THEN TRY(sparql_as_integer(term) - number::HUGEINT)
    WHEN left(term, 1) = 'd' THEN TRY(sparql_as_decimal(term) - sparql_scaled(left(sparql_floating_text(number), 40)))
    ELSE 0
  END;
-- Of two equal texts the one with another datatype comes first, then one with a language, then the simple string.
CREATE OR REPLACE TEMP MACRO sparql_order_type(term) AS
  CASE left(term, 1) WHEN 'S' THEN '~' WHEN 'L' THEN 'S' || split_part(term, ' ', 1) ELSE term END;
CREATE OR REPLACE TEMP MACRO sparql_order_key(term) AS
  list_transform([{'term': term, 'number': sparql_as_double(term), 'instant': sparql_as_instant(term)}], lambda sparql_k:
    list_transform([{'class': sparql_order_class(sparql_k.term, sparql_k.number, sparql_k.instant)}], lambda sparql_o:
      {
        'class': sparql_o.class,
        'number': coalesce(sparql_k.number, 0) + 0::DOUBLE,
        'rest':
          CASE sparql_o.class
            WHEN 3 THEN coalesce(sparql_order_rest(sparql_k.term, sparql_k.number), 0)
            WHEN 8 THEN sparql_as_boolean(sparql_k.term)::INTEGER
            ELSE coalesce(sparql_k.instant, 0)
          END::HUGEINT,
        'text':
          CASE WHEN sparql_o.class IN (1, 2) THEN sparql_k.term WHEN sparql_o.class = 9 THEN sparql_lexical(sparql_k.term) ELSE '' END,
        'type': CASE WHEN sparql_o.class = 9 THEN sparql_order_type(sparql_k.term) ELSE '' END
      }
    )[1]
  )[1];
