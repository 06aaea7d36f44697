-- Comparison (SPARQL 1.1 §17.3, §17.4.1.7) of terms that are not numbers; the compiler compares numbers
-- (arithmetic.py), as it does arithmetic. Each operator and family of values has a macro, because the compiler often
-- knows the family: that of a constant, or of a function's result. `a > b` is `b < a`.

-- Dates, times and durations. If only one value has a time zone, the values are ordered, and different, if a shift of
-- 14 hours does not change the order (XSD 1.1 part 2, E.3.3); closer values have no result for `=` or `<`.
CREATE OR REPLACE TEMP MACRO sparql_margin(x, y) AS CASE WHEN x.has_zone = y.has_zone THEN 0 ELSE 50400 * sparql_one() END;
CREATE OR REPLACE TEMP MACRO sparql_time_less(a, b) AS
  CASE
    WHEN sparql_is_ordinary(a) AND sparql_is_ordinary(b) THEN sparql_timestamp(a) < sparql_timestamp(b)
    ELSE
      list_transform([list_transform([a, b], lambda sparql_x: sparql_on_line(sparql_x))], lambda sparql_k:
        CASE
          WHEN sparql_k[1].line <> sparql_k[2].line THEN NULL
          WHEN sparql_is_before(sparql_k[1], sparql_k[2]) THEN TRUE
          WHEN sparql_is_before(sparql_k[2], sparql_k[1]) OR sparql_is_at(sparql_k[1], sparql_k[2]) THEN FALSE
        END
      )[1]
  END;
CREATE OR REPLACE TEMP MACRO sparql_time_at_most(a, b) AS
  CASE
    WHEN sparql_is_ordinary(a) AND sparql_is_ordinary(b) THEN sparql_timestamp(a) <= sparql_timestamp(b)
    ELSE
      list_transform([list_transform([a, b], lambda sparql_x: sparql_on_line(sparql_x))], lambda sparql_k:
        CASE
          WHEN sparql_k[1].line <> sparql_k[2].line THEN NULL
          WHEN sparql_is_before(sparql_k[1], sparql_k[2]) OR sparql_is_at(sparql_k[1], sparql_k[2]) THEN TRUE
          WHEN sparql_is_before(sparql_k[2], sparql_k[1]) THEN FALSE
        END
      )[1]
  END;

-- Equality. Literals of different values differ only if both values are known: the datatype is recognised, and the
-- lexical form is valid for it. Otherwise the result is an error (`at` is NULL). A string with a language is not a
-- value of any datatype.
CREATE OR REPLACE TEMP MACRO sparql_value(term) AS
  {
    'line': CASE WHEN left(term, 1) = 'O' THEN split_part(term, ' ', 1) ELSE left(term, 1) END,
    'has_zone': contains('tO', left(term, 1)) AND sparql_has_zone(term),
    'at': sparql_place(term)
  };
-- Any two terms that are not both numbers.
CREATE OR REPLACE TEMP MACRO sparql_equal(a, b) AS
  CASE
    WHEN a = b THEN TRUE
    WHEN contains('IBL', left(a, 1)) OR contains('IBL', left(b, 1)) OR (left(a, 1) = 'S' AND left(b, 1) = 'S') THEN a = b
    ELSE
      list_transform([list_transform([a, b], lambda sparql_x: sparql_value(sparql_x))], lambda sparql_k:
        CASE
          WHEN sparql_k[1].at IS NULL OR sparql_k[2].at IS NULL THEN NULL
          WHEN sparql_k[1].line <> sparql_k[2].line OR sparql_is_before(sparql_k[1], sparql_k[2]) OR sparql_is_before(sparql_k[2], sparql_k[1]) THEN FALSE
          WHEN sparql_is_at(sparql_k[1], sparql_k[2]) THEN TRUE
        END
      )[1]
  END;

-- The effective boolean value (§17.2.2); that of an ill-formed number or boolean is false.
CREATE OR REPLACE TEMP MACRO sparql_ebv(term) AS
  CASE
    WHEN left(term, 1) = 'b' THEN term IN ('btrue', 'b1')
    WHEN left(term, 1) = 'S' THEN term <> 'S'
    WHEN left(term, 1) = 'L' THEN sparql_lexical(term) <> ''
    WHEN contains('ind', left(term, 1)) THEN sparql_is_numeric(term) AND regexp_matches(sparql_numeral(term), '[1-9]')
    WHEN contains('ef', left(term, 1)) THEN coalesce(sparql_double_value(term) NOT IN (0::DOUBLE, 'nan'::DOUBLE), FALSE)
  END;
