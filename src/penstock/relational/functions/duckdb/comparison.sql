-- Comparison (SPARQL 1.1 §17.3, §17.4.1.7). There is a macro for each operator and family of values, because the compiler often
-- knows the family: that of a constant, or of a function's result. `a > b` is `b < a`.

-- Numbers, each in the greater of the two types; integers too large to be scaled are compared with decimals as doubles. NaN
-- is neither less than a number nor equal to one (in DuckDB it is greater than all, and equal to itself).
CREATE OR REPLACE TEMP MACRO sparql_number_less(a, b) AS
  CASE
    WHEN NOT sparql_are_numbers(a, b) THEN NULL
    WHEN sparql_are_integers(a, b) THEN sparql_as_integer(a) < sparql_as_integer(b)
    WHEN sparql_are_exact(a, b) THEN coalesce(sparql_as_decimal(a) < sparql_as_decimal(b), sparql_as_double(a) < sparql_as_double(b))
    WHEN sparql_has_double(a, b) THEN sparql_as_double(a) < sparql_as_double(b) AND NOT isnan(sparql_as_double(b))
    ELSE sparql_as_float(a) < sparql_as_float(b) AND NOT isnan(sparql_as_float(b))
  END;
CREATE OR REPLACE TEMP MACRO sparql_number_at_most(a, b) AS
  CASE
    WHEN NOT sparql_are_numbers(a, b) THEN NULL
    WHEN sparql_are_integers(a, b) THEN sparql_as_integer(a) <= sparql_as_integer(b)
    WHEN sparql_are_exact(a, b) THEN coalesce(sparql_as_decimal(a) <= sparql_as_decimal(b), sparql_as_double(a) <= sparql_as_double(b))
    WHEN sparql_has_double(a, b) THEN sparql_as_double(a) <= sparql_as_double(b) AND NOT isnan(sparql_as_double(b))
    ELSE sparql_as_float(a) <= sparql_as_float(b) AND NOT isnan(sparql_as_float(b))
  END;
CREATE OR REPLACE TEMP MACRO sparql_number_equal(a, b) AS
  CASE
    WHEN NOT sparql_are_numbers(a, b) THEN NULL
    WHEN sparql_are_integers(a, b) THEN sparql_as_integer(a) = sparql_as_integer(b)
    WHEN sparql_are_exact(a, b) THEN coalesce(sparql_as_decimal(a) = sparql_as_decimal(b), sparql_as_double(a) = sparql_as_double(b))
    WHEN sparql_has_double(a, b) THEN sparql_as_double(a) = sparql_as_double(b) AND NOT isnan(sparql_as_double(b))
    ELSE sparql_as_float(a) = sparql_as_float(b) AND NOT isnan(sparql_as_float(b))
  END;

-- Strings, in the order of their characters' codes; those with a language only among those of that language.
CREATE OR REPLACE TEMP MACRO sparql_are_strings(a, b) AS
  (left(a, 1) = 'S' AND left(b, 1) = 'S')
  OR (left(a, 1) = 'L' AND left(b, 1) = 'L' AND split_part(a, ' ', 1) = split_part(b, ' ', 1));
CREATE OR REPLACE TEMP MACRO sparql_string_less(a, b) AS CASE WHEN sparql_are_strings(a, b) THEN a < b END;
CREATE OR REPLACE TEMP MACRO sparql_string_at_most(a, b) AS CASE WHEN sparql_are_strings(a, b) THEN a <= b END;

-- Dates, times and durations. Most dateTimes are instants of the engine's own, with a time zone on both sides or on none.
CREATE OR REPLACE TEMP MACRO sparql_is_ordinary(term) AS
  regexp_full_match(
    term,
    't[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])'
  );
CREATE OR REPLACE TEMP MACRO sparql_are_ordinary(a, b) AS sparql_is_ordinary(a) AND sparql_is_ordinary(b);
CREATE OR REPLACE TEMP MACRO sparql_timestamp(term) AS TRY_CAST(substr(term, 2) AS TIMESTAMP);
-- -1, 0 or 1. With a time zone on one side only, there is an order where 14 hours do not change it (XSD 1.1 part 2, E.3.3).
CREATE OR REPLACE TEMP MACRO sparql_time_order(a, b) AS
  CASE
    WHEN left(a, 1) = 't' AND left(b, 1) = 't' OR left(a, 1) = 'O' AND split_part(a, ' ', 1) = split_part(b, ' ', 1)
    THEN
      list_transform([{'a': sparql_instant(a), 'b': sparql_instant(b)}], lambda sparql_i:
        CASE
          WHEN sparql_i.a.has_zone = sparql_i.b.has_zone OR abs(sparql_i.a.at - sparql_i.b.at) > 50400 * sparql_one()
          THEN (sparql_i.a.at > sparql_i.b.at)::TINYINT - (sparql_i.a.at < sparql_i.b.at)::TINYINT
        END
      )[1]
  END;
CREATE OR REPLACE TEMP MACRO sparql_time_less(a, b) AS
  CASE
    WHEN sparql_are_ordinary(a, b) THEN sparql_timestamp(a) < sparql_timestamp(b)
    ELSE sparql_time_order(a, b) < 0
  END;
CREATE OR REPLACE TEMP MACRO sparql_time_at_most(a, b) AS
  CASE
    WHEN sparql_are_ordinary(a, b) THEN sparql_timestamp(a) <= sparql_timestamp(b)
    ELSE sparql_time_order(a, b) <= 0
  END;

CREATE OR REPLACE TEMP MACRO sparql_boolean_less(a, b) AS sparql_as_boolean(a) < sparql_as_boolean(b);
CREATE OR REPLACE TEMP MACRO sparql_boolean_at_most(a, b) AS sparql_as_boolean(a) <= sparql_as_boolean(b);

-- Of any two terms. There is no order between families, nor of IRIs and blank nodes.
CREATE OR REPLACE TEMP MACRO sparql_less(a, b) AS
  CASE
    WHEN left(a, 1) IN ('S', 'L') THEN sparql_string_less(a, b)
    WHEN left(a, 1) IN ('t', 'O') THEN sparql_time_less(a, b)
    WHEN left(a, 1) = 'b' THEN sparql_boolean_less(a, b)
    ELSE sparql_number_less(a, b)
  END;
CREATE OR REPLACE TEMP MACRO sparql_at_most(a, b) AS
  CASE
    WHEN left(a, 1) IN ('S', 'L') THEN sparql_string_at_most(a, b)
    WHEN left(a, 1) IN ('t', 'O') THEN sparql_time_at_most(a, b)
    WHEN left(a, 1) = 'b' THEN sparql_boolean_at_most(a, b)
    ELSE sparql_number_at_most(a, b)
  END;

-- Equality. Literals of different values are different only where both values are known: where the datatype is recognised and the
-- lexical form is one of it; else there is no telling. A string with a language is no value of any datatype.
CREATE OR REPLACE TEMP MACRO sparql_is_known(term, instant) AS
  CASE
    WHEN left(term, 1) = 'S' THEN TRUE
    WHEN left(term, 1) = 'b' THEN term IN ('btrue', 'bfalse', 'b1', 'b0')
    WHEN left(term, 1) IN ('t', 'O') THEN instant.at IS NOT NULL
    ELSE sparql_is_number_form(term)
  END;
CREATE OR REPLACE TEMP MACRO sparql_other_equal(a, b) AS
  list_transform([{'a': a, 'b': b, 'x': sparql_instant(a), 'y': sparql_instant(b)}], lambda sparql_i:
    CASE
      WHEN sparql_is_known(sparql_i.a, sparql_i.x) AND sparql_is_known(sparql_i.b, sparql_i.y)
      THEN
        CASE
          WHEN left(sparql_i.a, 1) <> left(sparql_i.b, 1) THEN FALSE
          WHEN left(sparql_i.a, 1) = 'b' THEN sparql_as_boolean(sparql_i.a) = sparql_as_boolean(sparql_i.b)
          ELSE
            (left(sparql_i.a, 1) = 't' OR split_part(sparql_i.a, ' ', 1) = split_part(sparql_i.b, ' ', 1))
            AND sparql_i.x.has_zone = sparql_i.y.has_zone AND sparql_i.x.at = sparql_i.y.at
        END
    END
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_equal(a, b) AS
  CASE
    WHEN a = b THEN a NOT IN ('eNaN', 'fNaN')
    WHEN left(a, 1) IN ('I', 'B', 'L') OR left(b, 1) IN ('I', 'B', 'L') THEN a = b
    WHEN sparql_are_numbers(a, b) THEN sparql_number_equal(a, b)
    WHEN left(a, 1) = 'S' AND left(b, 1) = 'S' THEN a = b
    ELSE sparql_other_equal(a, b)
  END;
-- With a constant on one side: a number, a string.
CREATE OR REPLACE TEMP MACRO sparql_is_known_otherwise(term) AS
  CASE
    WHEN left(term, 1) IN ('S', 'L', 'I', 'B') THEN TRUE
    WHEN left(term, 1) = 'b' THEN term IN ('btrue', 'bfalse', 'b1', 'b0')
    WHEN left(term, 1) IN ('t', 'O') THEN CASE WHEN sparql_is_ordinary(term) THEN sparql_timestamp(term) IS NOT NULL ELSE sparql_as_instant(term) IS NOT NULL END
    ELSE sparql_is_number_form(term)
  END;
CREATE OR REPLACE TEMP MACRO sparql_equal_number(term, number) AS
  CASE
    WHEN left(term, 1) IN ('i', 'n', 'd', 'e', 'f') THEN sparql_number_equal(term, number)
    WHEN sparql_is_known_otherwise(term) THEN FALSE
  END;
CREATE OR REPLACE TEMP MACRO sparql_equal_string(term, string) AS
  CASE WHEN left(term, 1) IN ('S', 'I', 'B', 'L') THEN term = string WHEN sparql_is_known_otherwise(term) THEN FALSE END;

-- The effective boolean value (§17.2.2); that of an ill-formed number or boolean is false.
CREATE OR REPLACE TEMP MACRO sparql_ebv(term) AS
  CASE
    WHEN left(term, 1) = 'b' THEN term IN ('btrue', 'b1')
    WHEN left(term, 1) = 'S' THEN term <> 'S'
    WHEN left(term, 1) = 'L' THEN sparql_lexical(term) <> ''
    WHEN left(term, 1) IN ('i', 'n', 'd') THEN sparql_is_number_form(term) AND regexp_matches(sparql_numeral(term), '[1-9]')
    WHEN left(term, 1) IN ('e', 'f') THEN coalesce(sparql_as_double(term) NOT IN (0::DOUBLE, 'nan'::DOUBLE), FALSE)
  END;
