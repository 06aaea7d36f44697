-- Numbers. An integer is a HUGEINT; a decimal is a HUGEINT too, scaled by 10^18 (18 fractional digits, as XSD asks for
-- at least, and as oxigraph has), so both are exact: what does not fit is an error, never a double.

CREATE OR REPLACE TEMP MACRO sparql_one() AS 1000000000000000000::HUGEINT;

CREATE OR REPLACE TEMP MACRO sparql_is_of_integer_type(value, name) AS
  CASE name
    WHEN 'int' THEN value BETWEEN -2147483648 AND 2147483647
    WHEN 'long' THEN value BETWEEN -9223372036854775808 AND 9223372036854775807
    WHEN 'short' THEN value BETWEEN -32768 AND 32767
    WHEN 'byte' THEN value BETWEEN -128 AND 127
    WHEN 'nonNegativeInteger' THEN value >= 0
    WHEN 'positiveInteger' THEN value > 0
    WHEN 'nonPositiveInteger' THEN value <= 0
    WHEN 'negativeInteger' THEN value < 0
    WHEN 'unsignedInt' THEN value BETWEEN 0 AND 4294967295
    WHEN 'unsignedLong' THEN value BETWEEN 0 AND 18446744073709551615
    WHEN 'unsignedShort' THEN value BETWEEN 0 AND 65535
    WHEN 'unsignedByte' THEN value BETWEEN 0 AND 255
  END;

-- The lexical form is checked first: a cast alone would take '0x1f', '1_000' and ' 1 '.
CREATE OR REPLACE TEMP MACRO sparql_is_double_form(text) AS
  regexp_full_match(text, '[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN');
CREATE OR REPLACE TEMP MACRO sparql_scaled(text) AS
  TRY_CAST(split_part(text, '.', 1) || rpad(split_part(text, '.', 2), 18, '0') AS HUGEINT);

-- The values of terms. The derived integer types (tag n) count as integers here, whatever their bounds.
CREATE OR REPLACE TEMP MACRO sparql_numeral(term) AS CASE WHEN left(term, 1) = 'n' THEN split_part(term, ' ', 2) ELSE substr(term, 2) END;
CREATE OR REPLACE TEMP MACRO sparql_as_integer(term) AS
  CASE WHEN regexp_full_match(term, '(i|n[A-Za-z]+ )[+-]?[0-9]+') THEN TRY_CAST(sparql_numeral(term) AS HUGEINT) END;
-- Of an integer or a decimal: scaled.
CREATE OR REPLACE TEMP MACRO sparql_as_decimal(term) AS
  CASE
    WHEN regexp_full_match(term, 'd[+-]?([0-9]+(\.[0-9]{0,18}0*)?|\.[0-9]{1,18}0*)|(i|n[A-Za-z]+ )[+-]?[0-9]+')
    THEN sparql_scaled(sparql_numeral(term))
  END;
-- Of any number.
CREATE OR REPLACE TEMP MACRO sparql_is_number_form(term) AS
  regexp_full_match(
    term,
    '[ef]([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN)|d[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)|(i|n[A-Za-z]+ )[+-]?[0-9]+'
  );
CREATE OR REPLACE TEMP MACRO sparql_as_double(term) AS
  CASE
    WHEN sparql_is_number_form(term) THEN
      CASE
        WHEN left(term, 1) = 'f' THEN TRY_CAST(substr(term, 2) AS FLOAT)::DOUBLE
        ELSE TRY_CAST(sparql_numeral(term) AS DOUBLE)
      END
  END;
CREATE OR REPLACE TEMP MACRO sparql_as_float(term) AS
  CASE WHEN sparql_is_number_form(term) THEN TRY_CAST(sparql_numeral(term) AS FLOAT)::DOUBLE END;

-- A double as the nearest float; what is too large is infinite.
CREATE OR REPLACE TEMP MACRO sparql_to_float(value) AS
  list_transform([value], lambda sparql_v:
    CASE
      WHEN NOT isfinite(sparql_v) OR abs(sparql_v) < 3.4028235677973366e38::DOUBLE THEN TRY_CAST(sparql_v AS FLOAT)
      WHEN sparql_v > 0 THEN 'inf'::FLOAT
      WHEN sparql_v < 0 THEN '-inf'::FLOAT
    END
  )[1];

CREATE OR REPLACE TEMP MACRO sparql_is_numeric(term) AS
  CASE
    WHEN left(term, 1) = 'i' THEN regexp_full_match(term, 'i[+-]?[0-9]+')
    WHEN left(term, 1) = 'd' THEN regexp_full_match(term, 'd[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)')
    WHEN left(term, 1) IN ('e', 'f') THEN sparql_is_double_form(substr(term, 2))
    WHEN left(term, 1) = 'n' THEN
      coalesce(sparql_is_of_integer_type(sparql_as_integer(term), substr(split_part(term, ' ', 1), 2)), FALSE)
    WHEN term IS NOT NULL THEN FALSE
  END;

-- Values as terms, written as the oracle writes them: 5, 1.5, 2, INF; doubles without exponents.
CREATE OR REPLACE TEMP MACRO sparql_decimal_text(scaled) AS
  list_transform([scaled], lambda sparql_s:
    (CASE WHEN sparql_s < 0 THEN '-' ELSE '' END) || abs(sparql_s // sparql_one())
    || rtrim('.' || lpad(abs(sparql_s % sparql_one())::VARCHAR, 18, '0'), '0')
  )[1].rtrim('.');

CREATE OR REPLACE TEMP MACRO sparql_decimal_term(scaled) AS 'd' || sparql_decimal_text(scaled);

-- '1.5e+20' → '150000000000000000000', '1.5e-07' → '0.00000015'
CREATE OR REPLACE TEMP MACRO sparql_without_exponent(text) AS
  CASE
    WHEN NOT contains(text, 'e') THEN regexp_replace(text, '\.0$', '')
    ELSE
      (CASE WHEN text[1] = '-' THEN '-' ELSE '' END)
      || list_transform(
        [{'digits': replace(ltrim(split_part(text, 'e', 1), '-'), '.', ''), 'exponent': split_part(text, 'e', 2)::INTEGER}],
        lambda sparql_f:
          CASE
            WHEN sparql_f.exponent > 0 THEN rpad(sparql_f.digits, sparql_f.exponent + 1, '0')
            ELSE '0.' || repeat('0', -sparql_f.exponent - 1) || sparql_f.digits
          END
      )[1]
  END;
CREATE OR REPLACE TEMP MACRO sparql_floating_text(value) AS
  list_transform([value], lambda sparql_d:
    CASE
      WHEN isnan(sparql_d) THEN 'NaN'
      WHEN isinf(sparql_d) THEN CASE WHEN sparql_d > 0 THEN 'INF' ELSE '-INF' END
      ELSE sparql_without_exponent(sparql_d::VARCHAR)
    END
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_double_term(value) AS 'e' || sparql_floating_text(value);
CREATE OR REPLACE TEMP MACRO sparql_float_term(value) AS 'f' || sparql_floating_text(value);

-- Scaled products and quotients, cut off after 18 fractional digits.
CREATE OR REPLACE TEMP MACRO sparql_scaled_product(x, y) AS
  list_transform([{'x': x, 'y': y}], lambda sparql_p:
    TRY(
      (sparql_p.x // sparql_one()) * (sparql_p.y // sparql_one()) * sparql_one()
      + (sparql_p.x // sparql_one()) * (sparql_p.y % sparql_one())
      + (sparql_p.x % sparql_one()) * (sparql_p.y // sparql_one())
      + ((sparql_p.x % sparql_one()) * (sparql_p.y % sparql_one())) // sparql_one()
    )
  )[1];
-- Long division of a remainder, 18 digits of it: at once where 10^18 times the remainder fits, else digit by digit.
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
CREATE OR REPLACE TEMP MACRO sparql_scaled_quotient(x, y) AS
  list_transform([{'x': x, 'y': y}], lambda sparql_p:
    CASE
      WHEN sparql_p.y <> 0 THEN
        list_transform([{'x': sparql_p.x // gcd(sparql_p.x, sparql_p.y), 'y': sparql_p.y // gcd(sparql_p.x, sparql_p.y)}], lambda sparql_r:
          TRY(
            (sparql_r.x // sparql_r.y) * sparql_one()
            + sparql_quotient_digits(sparql_r.x % sparql_r.y, sparql_r.y)
          )
        )[1]
    END
  )[1];

-- The type of an operation's result is the greater of its operands' types (§17.3).
CREATE OR REPLACE TEMP MACRO sparql_are_integers(a, b) AS left(a, 1) IN ('i', 'n') AND left(b, 1) IN ('i', 'n');
CREATE OR REPLACE TEMP MACRO sparql_are_exact(a, b) AS left(a, 1) IN ('i', 'n', 'd') AND left(b, 1) IN ('i', 'n', 'd');
CREATE OR REPLACE TEMP MACRO sparql_are_numbers(a, b) AS
  left(a, 1) IN ('i', 'n', 'd', 'e', 'f') AND left(b, 1) IN ('i', 'n', 'd', 'e', 'f');
CREATE OR REPLACE TEMP MACRO sparql_has_double(a, b) AS left(a, 1) = 'e' OR left(b, 1) = 'e';

CREATE OR REPLACE TEMP MACRO sparql_number_sum(a, b) AS
  CASE
    WHEN sparql_are_integers(a, b) THEN 'i' || TRY(sparql_as_integer(a) + sparql_as_integer(b))
    WHEN NOT sparql_are_numbers(a, b) THEN NULL
    WHEN sparql_are_exact(a, b) THEN sparql_decimal_term(TRY(sparql_as_decimal(a) + sparql_as_decimal(b)))
    WHEN sparql_has_double(a, b) THEN sparql_double_term(sparql_as_double(a) + sparql_as_double(b))
    ELSE sparql_float_term(sparql_to_float(sparql_as_float(a) + sparql_as_float(b)))
  END;
CREATE OR REPLACE TEMP MACRO sparql_number_difference(a, b) AS
  CASE
    WHEN sparql_are_integers(a, b) THEN 'i' || TRY(sparql_as_integer(a) - sparql_as_integer(b))
    WHEN NOT sparql_are_numbers(a, b) THEN NULL
    WHEN sparql_are_exact(a, b) THEN sparql_decimal_term(TRY(sparql_as_decimal(a) - sparql_as_decimal(b)))
    WHEN sparql_has_double(a, b) THEN sparql_double_term(sparql_as_double(a) - sparql_as_double(b))
    ELSE sparql_float_term(sparql_to_float(sparql_as_float(a) - sparql_as_float(b)))
  END;
CREATE OR REPLACE TEMP MACRO sparql_multiply(a, b) AS
  CASE
    WHEN sparql_are_integers(a, b) THEN 'i' || TRY(sparql_as_integer(a) * sparql_as_integer(b))
    WHEN NOT sparql_are_numbers(a, b) THEN NULL
    WHEN sparql_are_exact(a, b) THEN sparql_decimal_term(sparql_scaled_product(sparql_as_decimal(a), sparql_as_decimal(b)))
    WHEN sparql_has_double(a, b) THEN sparql_double_term(sparql_as_double(a) * sparql_as_double(b))
    ELSE sparql_float_term(sparql_to_float(sparql_as_float(a) * sparql_as_float(b)))
  END;
-- The quotient of two integers is a decimal, for which they need not be scaled.
CREATE OR REPLACE TEMP MACRO sparql_divide(a, b) AS
  CASE
    WHEN NOT sparql_are_numbers(a, b) THEN NULL
    WHEN sparql_are_exact(a, b) THEN
      sparql_decimal_term(
        sparql_scaled_quotient(
          CASE WHEN sparql_are_integers(a, b) THEN sparql_as_integer(a) ELSE sparql_as_decimal(a) END,
          CASE WHEN sparql_are_integers(a, b) THEN sparql_as_integer(b) ELSE sparql_as_decimal(b) END
        )
      )
    WHEN sparql_has_double(a, b) THEN sparql_double_term(sparql_as_double(a) / sparql_as_double(b))
    ELSE sparql_float_term(sparql_to_float(sparql_as_float(a) / sparql_as_float(b)))
  END;

-- A function of one number: on the integer, on the scaled decimal, on the double.
CREATE OR REPLACE TEMP MACRO sparql_term_of(term, of_integer, of_decimal, of_double) AS
  CASE
    WHEN left(term, 1) IN ('i', 'n') THEN 'i' || of_integer
    WHEN left(term, 1) = 'd' THEN sparql_decimal_term(of_decimal)
    WHEN left(term, 1) = 'e' THEN sparql_double_term(of_double)
    WHEN left(term, 1) = 'f' THEN sparql_float_term(sparql_to_float(of_double))
  END;
CREATE OR REPLACE TEMP MACRO sparql_plus(term) AS
  sparql_term_of(term, sparql_as_integer(term), sparql_as_decimal(term), sparql_as_double(term));
CREATE OR REPLACE TEMP MACRO sparql_negated(term) AS
  sparql_term_of(term, TRY(-sparql_as_integer(term)), TRY(-sparql_as_decimal(term)), -sparql_as_double(term));
CREATE OR REPLACE TEMP MACRO sparql_abs(term) AS
  sparql_term_of(term, TRY(abs(sparql_as_integer(term))), TRY(abs(sparql_as_decimal(term))), abs(sparql_as_double(term)));
CREATE OR REPLACE TEMP MACRO sparql_scaled_floor(x) AS
  list_transform([x], lambda sparql_x: TRY(sparql_x - (sparql_x % sparql_one() + sparql_one()) % sparql_one()))[1];
CREATE OR REPLACE TEMP MACRO sparql_floor(term) AS
  sparql_term_of(term, sparql_as_integer(term), sparql_scaled_floor(sparql_as_decimal(term)), floor(sparql_as_double(term)));
CREATE OR REPLACE TEMP MACRO sparql_ceil(term) AS
  sparql_term_of(
    term, sparql_as_integer(term), TRY(-sparql_scaled_floor(-sparql_as_decimal(term))), ceil(sparql_as_double(term))
  );
-- Halves go up: ROUND(-2.5) is -2. (Half is not added to a double: the sum might be rounded.)
CREATE OR REPLACE TEMP MACRO sparql_double_round(x) AS
  list_transform([x], lambda sparql_x:
    CASE WHEN sparql_x - floor(sparql_x) >= 0.5::DOUBLE THEN ceil(sparql_x) ELSE floor(sparql_x) END
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_round(term) AS
  sparql_term_of(
    term,
    sparql_as_integer(term),
    sparql_scaled_floor(TRY(sparql_as_decimal(term) + 500000000000000000)),
    sparql_double_round(sparql_as_double(term))
  );
CREATE OR REPLACE TEMP MACRO sparql_rand() AS sparql_double_term(random());
