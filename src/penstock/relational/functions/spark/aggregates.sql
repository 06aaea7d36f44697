-- Exact sums. Each term is read once: as an integer, a decimal (times 10^18) or a floating number. Integers, and the
-- whole parts of large decimals, are added up in two parts (`low` below 10^28 and `high`). Decimals below 10^8 are
-- added as they are, larger ones by their fractions. So no sum of fewer than 10^10 rows overflows on the way. The last
-- step combines the parts. The type of the sum is the greatest among the types of the numbers.

CREATE OR REPLACE TEMP MACRO sparql_sum_low(integer, decimal) AS
  CASE
    WHEN abs(integer) >= 10000000000000000000000000000BD THEN CAST(integer % 10000000000000000000000000000BD AS DECIMAL(38, 0))
    WHEN abs(decimal) >= 100000000000000000000000000BD THEN sparql_whole_quotient(decimal, sparql_one())
    ELSE integer
  END;
CREATE OR REPLACE TEMP MACRO sparql_sum_high(integer) AS
  CASE
    WHEN abs(integer) >= 10000000000000000000000000000BD THEN sparql_whole_quotient(integer, 10000000000000000000000000000BD)
  END;
CREATE OR REPLACE TEMP MACRO sparql_sum_fraction(decimal) AS
  CASE
    WHEN abs(decimal) >= 100000000000000000000000000BD THEN CAST(decimal % sparql_one() AS DECIMAL(38, 0))
    ELSE decimal
  END;

-- The kind of a number: 0 is an integer, 1 a decimal, 2 a float, 3 a double; 4 is not a number. The kind of a sum is
-- the greatest. A sweep counts the kinds, each with a weight (a power of 2^31), so that the greatest of the remaining
-- ones can be determined.
CREATE OR REPLACE TEMP MACRO sparql_kind_weight(kind) AS
  CAST(
    CASE kind
      WHEN 1 THEN 1BD
      WHEN 2 THEN 2147483648BD
      WHEN 3 THEN 4611686018427387904BD
      WHEN 4 THEN 9903520314283042199192993792BD
      ELSE 0BD
    END AS DECIMAL(38, 0)
  );
CREATE OR REPLACE TEMP MACRO sparql_heaviest_kind(weight) AS
  CASE
    WHEN weight >= 9903520314283042199192993792BD THEN 4
    WHEN weight >= 4611686018427387904BD THEN 3
    WHEN weight >= 2147483648BD THEN 2
    WHEN weight >= 1 THEN 1
    ELSE 0
  END;

-- The last step. The parts of an empty sum are NULL.
CREATE OR REPLACE TEMP MACRO sparql_sum_whole(low, high) AS
  try_add(try_multiply(coalesce(high, 0BD), 10000000000000000000000000000BD), coalesce(low, 0BD));
CREATE OR REPLACE TEMP MACRO sparql_sum_double(low, high, fractions, floating) AS
  CAST(coalesce(high, 0BD) AS DOUBLE) * 1e28D + CAST(coalesce(low, 0BD) AS DOUBLE)
  + CAST(coalesce(fractions, 0BD) AS DOUBLE) / 1e18D + coalesce(floating, 0D);
CREATE OR REPLACE TEMP MACRO sparql_sum_scaled(low, high, fractions) AS
  try_add(try_multiply(sparql_sum_whole(low, high), sparql_one()), coalesce(fractions, 0BD));
-- The term of a float or a double; a float is read from the text of the double.
CREATE OR REPLACE TEMP MACRO sparql_floating_term(value, kind) AS
  transform(array(value), v ->
    CASE kind
      WHEN 2 THEN sparql_float_term(CAST(v AS STRING))
      ELSE sparql_double_term(v)
    END
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_sum_term(low, high, fractions, floating, kind) AS
  CASE
    WHEN kind IS NULL OR kind = 0 THEN sparql_integer_term(sparql_sum_whole(low, high))
    WHEN kind = 1 THEN sparql_decimal_term(sparql_sum_scaled(low, high, fractions))
    WHEN kind < 4 THEN sparql_floating_term(sparql_sum_double(low, high, fractions, floating), kind)
  END;
-- The mean of no values is 0. Other means are cut off after 18 fractional digits. Only sums of decimals are scaled for
-- this at once, because a sum of integers may be too large.
CREATE OR REPLACE TEMP MACRO sparql_whole_mean(whole, size) AS
  transform(array(whole), w ->
    try_add(
      try_multiply(sparql_whole_quotient(w, size), sparql_one()),
      sparql_whole_quotient(try_multiply(try_mod(w, size), sparql_one()), size)
    )
  )[0];
-- (A quotient in Spark has 32 digits before the point, so it is computed in two parts.)
CREATE OR REPLACE TEMP MACRO sparql_scaled_mean(scaled, size) AS
  transform(array(scaled), s ->
    try_add(
      try_multiply(sparql_whole_quotient(s, size * 10000000BD), 10000000BD),
      sparql_whole_quotient(try_mod(s, size * 10000000BD), size)
    )
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_mean_term(low, high, fractions, floating, kind, size) AS
  CASE
    WHEN size > 0 THEN
      CASE
        WHEN kind = 0 THEN sparql_decimal_term(sparql_whole_mean(sparql_sum_whole(low, high), CAST(size AS DECIMAL(38, 0))))
        WHEN kind = 1 THEN
          sparql_decimal_term(sparql_scaled_mean(sparql_sum_scaled(low, high, fractions), CAST(size AS DECIMAL(20, 0))))
        WHEN kind < 4 THEN
          sparql_floating_term(sparql_sum_double(low, high, fractions, floating) / CAST(size AS DOUBLE), kind)
      END
    ELSE 'i0'
  END;

-- A partial sum contains its parts, each floating number separately, and the count of the numbers.
CREATE OR REPLACE TEMP MACRO sparql_partial_sum(low, high, fractions, listed, kind, size) AS
  named_struct('low', low, 'high', high, 'fractions', fractions, 'listed', listed, 'kind', kind, 'size', size);
CREATE OR REPLACE TEMP MACRO sparql_listed_sum_term(low, high, fractions, listed, kind) AS
  sparql_sum_term(low, high, fractions, aggregate(listed, 0D, (total, value) -> total + value), kind);
CREATE OR REPLACE TEMP MACRO sparql_listed_mean_term(low, high, fractions, listed, kind, size) AS
  sparql_mean_term(low, high, fractions, aggregate(listed, 0D, (total, value) -> total + value), kind, size);

-- MIN and MAX: the first or last term in the order; among equal terms, the first or last by its text. Integers in their
-- usual form are kept apart, because they are cheap.
CREATE OR REPLACE TEMP MACRO sparql_plain_integer(term) AS
  CASE WHEN term RLIKE '^i(0|-?[1-9][0-9]{0,17})\\z' THEN CAST(substr(term, 2) AS BIGINT) END;
CREATE OR REPLACE TEMP MACRO sparql_ranked(term) AS named_struct('key', sparql_order_key(term), 'term', term);
CREATE OR REPLACE TEMP MACRO sparql_otherwise_ranked(term) AS
  CASE WHEN NOT term RLIKE '^i(0|-?[1-9][0-9]{0,17})\\z' THEN sparql_ranked(term) END;
CREATE OR REPLACE TEMP MACRO sparql_ranked_integer(value) AS
  CASE
    WHEN value IS NOT NULL
    THEN
      named_struct(
        'key',
        named_struct(
          'class', 3, 'number', CAST(value AS DOUBLE),
          'rest', CAST(CAST(value AS DECIMAL(38, 0)) - sparql_double_as_integer(CAST(value AS DOUBLE)) AS DECIMAL(38, 0)),
          'fraction', CAST(0 AS DECIMAL(38, 0)), 'text', '', 'type', ''
        ),
        'term', 'i' || CAST(value AS STRING)
      )
  END;

-- `terms` may be NULL, for none; their order does not depend on the arrival of rows.
CREATE OR REPLACE TEMP MACRO sparql_group_concat(terms, separator) AS
  transform(array(array_sort(coalesce(terms, CAST(array() AS ARRAY<STRING>)))), g ->
    CASE
      WHEN NOT exists(g, x -> left(x, 1) = 'B') THEN concat('S', array_join(transform(g, x -> sparql_lexical(x)), separator))
    END
  )[0];
