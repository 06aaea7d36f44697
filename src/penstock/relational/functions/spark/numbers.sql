-- Numbers. An integer is a DECIMAL(38, 0), and so is a decimal: its value times 10^18 (XSD requires 18 digits), because
-- sums and products of DECIMAL(38, 18)s lose digits in Spark. Both are exact, and a value that does not fit is an
-- error, never a double. The compiler combines operators on numbers (arithmetic.py).

CREATE OR REPLACE TEMP MACRO sparql_one() AS 1000000000000000000BD;

-- Whether a term is not a derived integer, or is one within its bounds. A number with more than 38 digits is within
-- them if its type has no bound on that side.
CREATE OR REPLACE TEMP MACRO sparql_is_within_bounds(term) AS
  CASE
    WHEN left(term, 1) = 'n' THEN
      transform(
        array(
          named_struct(
            'name', substr(split_part(term, ' ', 1), 2), 'text', split_part(term, ' ', 2), 'value', TRY_CAST(split_part(term, ' ', 2) AS DECIMAL(38, 0))
          )
        ),
        n ->
          CASE n.name
            WHEN 'nonNegativeInteger' THEN coalesce(n.value >= 0, NOT startswith(n.text, '-'))
            WHEN 'positiveInteger' THEN coalesce(n.value > 0, NOT startswith(n.text, '-'))
            WHEN 'nonPositiveInteger' THEN coalesce(n.value <= 0, startswith(n.text, '-'))
            WHEN 'negativeInteger' THEN coalesce(n.value < 0, startswith(n.text, '-'))
            WHEN 'int' THEN coalesce(n.value BETWEEN -2147483648 AND 2147483647, FALSE)
            WHEN 'long' THEN coalesce(n.value BETWEEN -9223372036854775808BD AND 9223372036854775807BD, FALSE)
            WHEN 'short' THEN coalesce(n.value BETWEEN -32768 AND 32767, FALSE)
            WHEN 'byte' THEN coalesce(n.value BETWEEN -128 AND 127, FALSE)
            WHEN 'unsignedInt' THEN coalesce(n.value BETWEEN 0 AND 4294967295BD, FALSE)
            WHEN 'unsignedLong' THEN coalesce(n.value BETWEEN 0 AND 18446744073709551615BD, FALSE)
            WHEN 'unsignedShort' THEN coalesce(n.value BETWEEN 0 AND 65535, FALSE)
            WHEN 'unsignedByte' THEN coalesce(n.value BETWEEN 0 AND 255, FALSE)
          END
      )[0]
    ELSE TRUE
  END;
-- `…_value` leaves the check of the bounds to the caller.
CREATE OR REPLACE TEMP MACRO sparql_integer_value(term) AS
  TRY_CAST(regexp_extract(term, '^(?:i|n[A-Za-z]+ )([+-]?[0-9]+)\\z', 1) AS DECIMAL(38, 0));
CREATE OR REPLACE TEMP MACRO sparql_as_integer(term) AS
  transform(array(term), t -> CASE WHEN sparql_is_within_bounds(t) THEN sparql_integer_value(t) END)[0];
-- From the text of a decimal.
CREATE OR REPLACE TEMP MACRO sparql_decimal_of(lexical) AS TRY_CAST(concat(lexical, 'e18') AS DECIMAL(38, 0));
-- An integer or a decimal.
CREATE OR REPLACE TEMP MACRO sparql_decimal_value(term) AS
  transform(array(term), t ->
    CASE
      WHEN t RLIKE '^(d[+-]?([0-9]+(\\.[0-9]{0,18}0*)?|\\.[0-9]{1,18}0*)|(i|n[A-Za-z]+ )[+-]?[0-9]+)\\z' THEN sparql_decimal_of(sparql_numeral(t))
    END
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_as_decimal(term) AS
  transform(array(term), t -> CASE WHEN sparql_is_within_bounds(t) THEN sparql_decimal_value(t) END)[0];
-- Any number.
CREATE OR REPLACE TEMP MACRO sparql_is_double_form(text) AS
  text RLIKE '^([+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN)\\z';
CREATE OR REPLACE TEMP MACRO sparql_has_number_form(term) AS
  term RLIKE '^([ef]([+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN)|d[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)|(i|n[A-Za-z]+ )[+-]?[0-9]+)\\z';
CREATE OR REPLACE TEMP MACRO sparql_is_numeric(term) AS
  transform(array(term), t -> sparql_has_number_form(t) AND sparql_is_within_bounds(t))[0];
-- The whole part of a double. Three parts of 53 bits each are exact.
CREATE OR REPLACE TEMP MACRO sparql_double_as_integer(value) AS
  CASE
    WHEN abs(value) < 9007199254740992D THEN CAST(CAST(value AS BIGINT) AS DECIMAL(38, 0))
    WHEN abs(value) < 1e38D THEN
      try_add(
        try_add(
          try_multiply(
            CAST(CAST(value / 81129638414606681695789005144064D AS BIGINT) AS DECIMAL(38, 0)), 81129638414606681695789005144064BD
          ),
          CAST(CAST(value % 81129638414606681695789005144064D / 9007199254740992D AS BIGINT) AS DECIMAL(38, 0)) * 9007199254740992BD
        ),
        CAST(CAST(value % 9007199254740992D AS BIGINT) AS DECIMAL(38, 0))
      )
  END;
-- A double as a decimal is the value of its text (0.1, and not its binary expansion); above 2^53 it is the exact whole
-- number.
CREATE OR REPLACE TEMP MACRO sparql_double_as_decimal(value) AS
  CASE
    WHEN abs(value) < 9007199254740992D THEN
      transform(array(CAST(value AS STRING)), s ->
        CASE
          WHEN contains(s, 'E')
          THEN TRY_CAST(concat(split_part(s, 'E', 1), 'e', CAST(split_part(s, 'E', 2) AS INT) + 18) AS DECIMAL(38, 0))
          ELSE sparql_decimal_of(s)
        END
      )[0]
    ELSE try_multiply(sparql_double_as_integer(value), sparql_one())
  END;

-- Values as terms, written as the oracle writes them: 5, 1.5, 2, INF; doubles without exponents.
CREATE OR REPLACE TEMP MACRO sparql_trimmed(digits) AS TRIM(TRAILING '.' FROM concat('.', TRIM(TRAILING '0' FROM digits)));
CREATE OR REPLACE TEMP MACRO sparql_decimal_text(value) AS
  transform(array(CAST(value AS STRING)), s ->
    transform(array(lpad(ltrim('-', s), greatest(19, length(ltrim('-', s))), '0')), d ->
      concat(CASE WHEN startswith(s, '-') THEN '-' ELSE '' END, left(d, length(d) - 18), sparql_trimmed(right(d, 18)))
    )[0]
  )[0];
-- '1.5E20' → '150000000000000000000', '1.5E-7' → '0.00000015'
CREATE OR REPLACE TEMP MACRO sparql_floating_text(value) AS
  transform(array(CAST(value AS STRING)), s ->
    CASE
      WHEN s = 'NaN' THEN s
      WHEN endswith(s, 'Infinity') THEN replace(s, 'Infinity', 'INF')
      WHEN contains(s, 'E') THEN
        transform(
          array(
            named_struct(
              'sign', CASE WHEN startswith(s, '-') THEN '-' ELSE '' END,
              'digits', replace(ltrim('-', regexp_replace(split_part(s, 'E', 1), '\\.0$', '')), '.', ''),
              'size', CAST(split_part(s, 'E', 2) AS INT) + 1
            )
          ),
          p -> concat(
            p.sign,
            CASE
              WHEN p.size <= 0 THEN concat('0.', repeat('0', -p.size), p.digits)
              WHEN length(p.digits) <= p.size THEN rpad(p.digits, p.size, '0')
              ELSE concat(left(p.digits, p.size), '.', substr(p.digits, p.size + 1))
            END
          )
        )[0]
      WHEN endswith(s, '.0') THEN left(s, length(s) - 2)
      ELSE s
    END
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_double_term(value) AS concat('e', sparql_floating_text(CAST(value AS DOUBLE)));
CREATE OR REPLACE TEMP MACRO sparql_float_term(value) AS concat('f', sparql_floating_text(CAST(value AS FLOAT)));
CREATE OR REPLACE TEMP MACRO sparql_decimal_as_double(value) AS CAST(sparql_decimal_text(value) AS DOUBLE);
CREATE OR REPLACE TEMP MACRO sparql_decimal_as_float(value) AS CAST(sparql_decimal_text(value) AS FLOAT);

-- Products and quotients of decimals, cut off after 18 fractional digits. `DIV` has only 64 bits, and `/` 32 digits
-- before the point.
CREATE OR REPLACE TEMP MACRO sparql_whole_quotient(x, y) AS
  CAST(try_divide(x - try_mod(x, y), y) AS DECIMAL(38, 0));
CREATE OR REPLACE TEMP MACRO sparql_tenth(x) AS CAST((x - (x) % 10) * 0.1BD AS DECIMAL(38, 0));
CREATE OR REPLACE TEMP MACRO sparql_product(x, y) AS
  transform(array(named_struct('x', x, 'y', y)), f ->
    transform(
      array(
        named_struct(
          'x', sparql_whole_quotient(f.x, sparql_one()), 'p', f.x % sparql_one(),
          'y', sparql_whole_quotient(f.y, sparql_one()), 'q', f.y % sparql_one()
        )
      ),
      w -> try_add(
        try_add(try_multiply(w.x, f.y), try_multiply(w.y, w.p)), sparql_whole_quotient(try_multiply(w.p, w.q), sparql_one())
      )
    )[0]
  )[0];
-- Long division of a remainder, 18 digits of it: at once or in two steps if they fit, else digit by digit.
CREATE OR REPLACE TEMP MACRO sparql_next_digits(remainder, divisor, factor) AS
  transform(array(sparql_whole_quotient(try_multiply(remainder, factor), divisor)), d ->
    named_struct('digits', d, 'remainder', CAST(try_mod(try_multiply(remainder, factor), divisor) AS DECIMAL(38, 0)))
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_next_digit(done, tenth, divisor) AS
  transform(array(least(9BD, sparql_whole_quotient(done.remainder, tenth))), d ->
    transform(array(try_subtract(try_multiply(try_subtract(done.remainder, d * tenth), 10BD), d * (divisor % 10))), r ->
      CASE
        WHEN r < 0 THEN named_struct('digits', try_add(try_multiply(done.digits, 10BD), d - 1), 'remainder', try_add(r, divisor))
        ELSE named_struct('digits', try_add(try_multiply(done.digits, 10BD), d), 'remainder', r)
      END
    )[0]
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_quotient_digits(remainder, divisor) AS
  CASE
    WHEN divisor < 100000000000000000000BD THEN sparql_whole_quotient(try_multiply(remainder, sparql_one()), divisor)
    WHEN divisor < 100000000000000000000000000000BD THEN
      transform(array(sparql_next_digits(remainder, divisor, 1000000000BD)), n ->
        n.digits * 1000000000BD + sparql_whole_quotient(try_multiply(n.remainder, 1000000000BD), divisor)
      )[0]
    ELSE
      aggregate(
        sequence(1, 18),
        named_struct('digits', CAST(0 AS DECIMAL(38, 0)), 'remainder', CAST(remainder AS DECIMAL(38, 0))),
        (done, place) -> sparql_next_digit(done, sparql_tenth(divisor), divisor)
      ).digits
  END;
CREATE OR REPLACE TEMP MACRO sparql_quotient(x, y) AS
  transform(array(named_struct('x', abs(x), 'y', abs(y), 'sign', CAST(sign(x) * sign(y) AS DECIMAL(1, 0)))), f ->
    try_multiply(
      f.sign,
      try_add(
        try_multiply(sparql_whole_quotient(f.x, f.y), sparql_one()), sparql_quotient_digits(try_mod(f.x, f.y), f.y)
      )
    )
  )[0];

-- Doubles and floats; Spark cannot divide by zero.
CREATE OR REPLACE TEMP MACRO sparql_floating_quotient(x, y) AS
  transform(array(named_struct('x', x, 'y', y)), f ->
    CASE
      WHEN f.y <> 0 OR isnan(f.y) THEN f.x / f.y
      WHEN f.x IS NULL OR f.y IS NULL THEN NULL
      WHEN f.x = 0 OR isnan(f.x) THEN DOUBLE('NaN')
      WHEN (f.x > 0) = startswith(CAST(f.y AS STRING), '-') THEN DOUBLE('-INF')
      ELSE DOUBLE('INF')
    END
  )[0];

-- Halves are rounded up: ROUND(-2.5) is -2. (Adding a half to a double might round the sum.) A double beyond 2^53 is
-- whole.
CREATE OR REPLACE TEMP MACRO sparql_decimal_floor(x) AS
  transform(array(x), v ->
    try_subtract(v - v % sparql_one(), CASE WHEN v % sparql_one() < 0 THEN sparql_one() ELSE 0BD END)
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_decimal_ceil(x) AS
  transform(array(x), v ->
    try_add(v - v % sparql_one(), CASE WHEN v % sparql_one() > 0 THEN sparql_one() ELSE 0BD END)
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_decimal_round(x) AS sparql_decimal_floor(try_add(x, 500000000000000000BD));
CREATE OR REPLACE TEMP MACRO sparql_double_floor(x) AS
  transform(array(CAST(x AS DOUBLE)), v ->
    CASE WHEN v <> 0 AND abs(v) < 9007199254740992D THEN CAST(floor(v) AS DOUBLE) ELSE v END
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_double_ceil(x) AS -sparql_double_floor(-(x));
CREATE OR REPLACE TEMP MACRO sparql_double_round(x) AS
  transform(array(CAST(x AS DOUBLE)), v ->
    CASE WHEN v - sparql_double_floor(v) >= 0.5D THEN sparql_double_ceil(v) ELSE sparql_double_floor(v) END
  )[0];

CREATE OR REPLACE TEMP MACRO sparql_rand() AS sparql_double_term(rand());
