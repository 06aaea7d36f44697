-- ORDER BY (SPARQL 1.1 §15.1): unbound, blank nodes, IRIs, literals. Among literals: numbers by value, dates and times, durations,
-- booleans, then all others by their text.

-- `number` is the value of a number, as a double; `place` is the position of a date, a time, a duration or a boolean.
CREATE OR REPLACE TEMP MACRO sparql_order_class(term, number, place) AS
  CASE
    WHEN term IS NULL THEN 0
    WHEN number IS NOT NULL THEN 3
    WHEN place IS NOT NULL THEN
      CASE
        WHEN left(term, 1) = 't' THEN 4
        WHEN left(term, 1) = 'b' THEN 8
        WHEN sparql_is_date(term) THEN 5
        WHEN sparql_is_time(term) THEN 6
        ELSE 7
      END
    WHEN left(term, 1) = 'B' THEN 1
    WHEN left(term, 1) = 'I' THEN 2
    ELSE 9
  END;

-- Among equal texts, one with another datatype is first, then one with a language, then the simple string.
CREATE OR REPLACE TEMP MACRO sparql_order_type(term) AS
  CASE left(term, 1)
    WHEN 'S' THEN '~'
    WHEN 'L' THEN 'S' || split_part(term, ' ', 1)
    WHEN 'O' THEN split_part(term, ' ', 1)
    ELSE ''
  END;
