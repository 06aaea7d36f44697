-- Numbers. An integer is a HUGEINT, a decimal a DECIMAL(38, 18) (XSD requires 18 digits, oxigraph has as many). Both
-- are exact, and a value that does not fit is an error, never a double. The compiler combines operators on numbers
-- (arithmetic.py).

-- The values of terms. The lexical form is checked first, because a cast alone would accept '0x1f', '1_000' and ' 1 '.
-- The derived integer types (tag n) count as integers here; beyond their bounds they are not numbers (§17.4.2.4).
-- Checking the bounds takes a long pattern, which each statement compiles again at every place that uses it: so
-- `…_value` leaves this check to the caller. The macros repeat arguments as seldom as possible: an argument may be an
-- expression, and DuckDB evaluates each occurrence separately.
CREATE OR REPLACE TEMP MACRO sparql_is_within_bounds(term) AS
  CASE WHEN left(term, 1) = 'n' THEN regexp_full_match(term, sparql_derived_integer()) ELSE TRUE END;
CREATE OR REPLACE TEMP MACRO sparql_integer_value(term) AS
  TRY_CAST(regexp_extract(term, '^(?:i|n[A-Za-z]+ )([+-]?[0-9]+)$', 1) AS HUGEINT);
CREATE OR REPLACE TEMP MACRO sparql_as_integer(term) AS CASE WHEN sparql_is_within_bounds(term) THEN sparql_integer_value(term) END;
-- From the text of a decimal.
CREATE OR REPLACE TEMP MACRO sparql_decimal_of(lexical) AS TRY_CAST(lexical AS DECIMAL(38, 18));
-- An integer or a decimal.
CREATE OR REPLACE TEMP MACRO sparql_decimal_value(term) AS
  CASE
    WHEN regexp_full_match(term, 'd[+-]?([0-9]+(\.[0-9]{0,18}0*)?|\.[0-9]{1,18}0*)|(i|n[A-Za-z]+ )[+-]?[0-9]+')
    THEN TRY_CAST(sparql_numeral(term) AS DECIMAL(38, 18))
  END;
CREATE OR REPLACE TEMP MACRO sparql_as_decimal(term) AS CASE WHEN sparql_is_within_bounds(term) THEN sparql_decimal_value(term) END;
-- Any number.
CREATE OR REPLACE TEMP MACRO sparql_is_double_form(text) AS
  regexp_full_match(text, '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN');
CREATE OR REPLACE TEMP MACRO sparql_has_number_form(term) AS
  regexp_full_match(
    term,
    '[ef]([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN)|d[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)|(i|n[A-Za-z]+ )[+-]?[0-9]+'
  );
CREATE OR REPLACE TEMP MACRO sparql_is_numeric(term) AS sparql_has_number_form(term) AND sparql_is_within_bounds(term);
-- A double as a decimal is the value of its shortest text (0.1, and not its binary expansion); above 2^53 it is the
-- exact whole number.
CREATE OR REPLACE TEMP MACRO sparql_double_as_decimal(value) AS
  CASE
    WHEN abs(value) < 9007199254740992 THEN TRY_CAST((value)::VARCHAR AS DECIMAL(38, 18))
    ELSE TRY_CAST(TRY_CAST(value AS HUGEINT) AS DECIMAL(38, 18))
  END;

-- Values as terms, written as the oracle writes them: 5, 1.5, 2, INF; doubles without exponents.
CREATE OR REPLACE TEMP MACRO sparql_decimal_text(value) AS rtrim(rtrim((value)::DECIMAL(38, 18)::VARCHAR, '0'), '.');
-- '1.5e+20' → '150000000000000000000', '1.5e-07' → '0.00000015'
CREATE OR REPLACE TEMP MACRO sparql_floating_text(value) AS
  list_transform([(value)::VARCHAR], lambda sparql_s:
    CASE
      WHEN sparql_s IN ('nan', '-nan') THEN 'NaN'
      WHEN sparql_s IN ('inf', '-inf') THEN upper(sparql_s)
      WHEN contains(sparql_s, 'e+') THEN
        rpad(replace(split_part(sparql_s, 'e+', 1), '.', ''), split_part(sparql_s, 'e+', 2)::INTEGER + 1 + starts_with(sparql_s, '-')::INTEGER, '0')
      WHEN contains(sparql_s, 'e-') THEN
        CASE WHEN starts_with(sparql_s, '-') THEN '-0.' ELSE '0.' END || repeat('0', split_part(sparql_s, 'e-', 2)::INTEGER - 1)
        || replace(ltrim(split_part(sparql_s, 'e-', 1), '-'), '.', '')
      WHEN suffix(sparql_s, '.0') THEN left(sparql_s, -2)
      ELSE sparql_s
    END
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_double_term(value) AS 'e' || sparql_floating_text((value)::DOUBLE);
CREATE OR REPLACE TEMP MACRO sparql_float_term(value) AS 'f' || sparql_floating_text((value)::FLOAT);
CREATE OR REPLACE TEMP MACRO sparql_decimal_as_double(value) AS (value)::DOUBLE;
CREATE OR REPLACE TEMP MACRO sparql_decimal_as_float(value) AS (value)::FLOAT;

-- Products and quotients of decimals, cut off after 18 fractional digits. They are computed from whole parts and
-- fractions (times 10^18), so that no digit is lost on the way.
CREATE OR REPLACE TEMP MACRO sparql_one() AS 1000000000000000000::HUGEINT;
CREATE OR REPLACE TEMP MACRO sparql_scaled(value) AS
  (trunc(value)::HUGEINT * sparql_one() + (((value) % 1) * 1000000000000000000::DECIMAL(19, 0))::HUGEINT);
CREATE OR REPLACE TEMP MACRO sparql_unscaled(scaled) AS
  ((scaled // sparql_one())::DECIMAL(38, 18) + (scaled % sparql_one())::DECIMAL(38, 0) * 0.000000000000000001::DECIMAL(18, 18));
CREATE OR REPLACE TEMP MACRO sparql_product(x, y) AS
  list_transform([{'x': trunc(x)::HUGEINT, 'y': trunc(y)::HUGEINT, 'p': (((x) % 1) * 1000000000000000000::DECIMAL(19, 0))::HUGEINT, 'q': (((y) % 1) * 1000000000000000000::DECIMAL(19, 0))::HUGEINT}], lambda sparql_f:
    TRY(
      (sparql_f.x * sparql_f.y)::DECIMAL(38, 18)
      + sparql_unscaled(sparql_f.x * sparql_f.q + sparql_f.p * sparql_f.y + (sparql_f.p * sparql_f.q) // sparql_one())
    )
  )[1];
-- Long division of a remainder, 18 digits of it: at once if 10^18 times the remainder fits, else digit by digit.
CREATE OR REPLACE TEMP MACRO sparql_quotient_digits(remainder, divisor) AS
  CASE
    WHEN abs(divisor) < 170000000000000000000::HUGEINT THEN (remainder * sparql_one()) // divisor
    ELSE
      list_reduce(
        list_transform(range(18), lambda sparql_n: [0::HUGEINT]),
        lambda sparql_q, sparql_n: [
          sparql_q[1] * 10 + (sparql_q[2] * 10) // sparql_q[3], (sparql_q[2] * 10) % sparql_q[3], sparql_q[3]
        ],
        [0::HUGEINT, remainder, divisor]
      )[1]
  END;
CREATE OR REPLACE TEMP MACRO sparql_integer_quotient(x, y) AS
  list_transform([{'x': x, 'y': y, 'divisor': gcd(x, y)}], lambda sparql_f:
    CASE
      WHEN sparql_f.y <> 0 THEN
        TRY(
          (sparql_f.x // sparql_f.y)::DECIMAL(38, 18)
          + sparql_unscaled(
            sparql_quotient_digits(
              (sparql_f.x // sparql_f.divisor) % (sparql_f.y // sparql_f.divisor), sparql_f.y // sparql_f.divisor
            )
          )
        )
    END
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_quotient(x, y) AS sparql_integer_quotient(TRY(sparql_scaled(x)), TRY(sparql_scaled(y)));

CREATE OR REPLACE TEMP MACRO sparql_floating_quotient(x, y) AS (x) / (y);

-- Halves are rounded up: ROUND(-2.5) is -2. (Adding a half to a double might round the sum.)
CREATE OR REPLACE TEMP MACRO sparql_decimal_round(x) AS floor((x) + 0.5::DECIMAL(2, 1))::DECIMAL(38, 18);
CREATE OR REPLACE TEMP MACRO sparql_decimal_floor(x) AS floor(x)::DECIMAL(38, 18);
CREATE OR REPLACE TEMP MACRO sparql_decimal_ceil(x) AS ceil(x)::DECIMAL(38, 18);
CREATE OR REPLACE TEMP MACRO sparql_double_round(x) AS CASE WHEN (x) - floor(x) >= 0.5::DOUBLE THEN ceil(x) ELSE floor(x) END;
CREATE OR REPLACE TEMP MACRO sparql_double_floor(x) AS floor(x);
CREATE OR REPLACE TEMP MACRO sparql_double_ceil(x) AS ceil(x);

CREATE OR REPLACE TEMP MACRO sparql_rand() AS sparql_double_term(random());
