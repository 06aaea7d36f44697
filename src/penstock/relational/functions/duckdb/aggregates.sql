-- Exact sums. Each term is read once: as an integer, a decimal or a floating number. Integers, and the whole parts of
-- large decimals, are added up in two parts (`low` below 10^28 and `high`). Decimals below 10^8 are added as they are,
-- larger ones by their fractions. So no sum of fewer than 10^10 rows overflows on the way. The last step combines the
-- parts. The type of the sum is the greatest among the types of the numbers.

CREATE OR REPLACE TEMP MACRO sparql_sum_low(integer, decimal) AS
  CASE
    WHEN abs(integer) >= 10000000000000000000000000000::HUGEINT THEN integer % 10000000000000000000000000000::HUGEINT
    WHEN abs(decimal) >= 100000000 THEN trunc(decimal)::HUGEINT
    ELSE integer
  END;
CREATE OR REPLACE TEMP MACRO sparql_sum_high(integer) AS
  CASE
    WHEN abs(integer) >= 10000000000000000000000000000::HUGEINT THEN integer // 10000000000000000000000000000::HUGEINT
  END;
CREATE OR REPLACE TEMP MACRO sparql_sum_fraction(decimal) AS CASE WHEN abs(decimal) >= 100000000 THEN decimal % 1 ELSE decimal END;

-- The kind of a number: 0 is an integer, 1 a decimal, 2 a float, 3 a double; 4 is not a number. The kind of a sum is
-- the greatest. A sweep counts the kinds, each with a weight, so that the greatest of the remaining ones can be
-- determined.
CREATE OR REPLACE TEMP MACRO sparql_kind_weight(kind) AS
  CASE kind
    WHEN 1 THEN 1::HUGEINT
    WHEN 2 THEN 4294967296::HUGEINT
    WHEN 3 THEN 18446744073709551616::HUGEINT
    WHEN 4 THEN 79228162514264337593543950336::HUGEINT
    ELSE 0::HUGEINT
  END;
CREATE OR REPLACE TEMP MACRO sparql_heaviest_kind(weight) AS
  CASE
    WHEN weight >= 79228162514264337593543950336::HUGEINT THEN 4
    WHEN weight >= 18446744073709551616::HUGEINT THEN 3
    WHEN weight >= 4294967296::HUGEINT THEN 2
    WHEN weight >= 1 THEN 1
    ELSE 0
  END;

-- The last step. The parts of an empty sum are NULL.
CREATE OR REPLACE TEMP MACRO sparql_sum_whole(low, high) AS
  TRY(coalesce(high, 0)::HUGEINT * 10000000000000000000000000000::HUGEINT + coalesce(low, 0)::HUGEINT);
CREATE OR REPLACE TEMP MACRO sparql_sum_double(low, high, fractions, floating) AS
  coalesce(high, 0)::DOUBLE * 1e28::DOUBLE + coalesce(low, 0)::DOUBLE + coalesce(fractions, 0)::DOUBLE + coalesce(floating, 0);
-- The term of a float or a double; a float is read from the text of the double.
CREATE OR REPLACE TEMP MACRO sparql_floating_term(value, kind) AS
  CASE kind WHEN 2 THEN 'f' ELSE 'e' END
  || sparql_floating_text(CASE kind WHEN 2 THEN (value)::VARCHAR::FLOAT::VARCHAR ELSE (value)::VARCHAR END);
CREATE OR REPLACE TEMP MACRO sparql_sum_term(low, high, fractions, floating, kind) AS
  CASE
    WHEN kind IS NULL OR kind = 0 THEN 'i' || sparql_sum_whole(low, high)
    WHEN kind = 1 THEN sparql_decimal_term(TRY(sparql_sum_whole(low, high)::DECIMAL(38, 18) + coalesce(fractions, 0)))
    WHEN kind < 4 THEN sparql_floating_term(sparql_sum_double(low, high, fractions, floating), kind)
  END;
-- The mean of no values is 0. Other means are cut off after 18 fractional digits. Only sums of decimals are scaled for
-- this at once, because a sum of integers may be too large.
CREATE OR REPLACE TEMP MACRO sparql_whole_mean(whole, size) AS
  TRY((whole // size)::DECIMAL(38, 18) + sparql_unscaled(((whole % size) * sparql_one()) // size));
CREATE OR REPLACE TEMP MACRO sparql_mean_term(low, high, fractions, floating, kind, size) AS
  CASE
    WHEN size > 0 THEN
      CASE
        WHEN kind = 0 THEN sparql_decimal_term(sparql_whole_mean(sparql_sum_whole(low, high), size::HUGEINT))
        WHEN kind = 1 THEN
          sparql_decimal_term(
            TRY(
              sparql_unscaled((sparql_sum_whole(low, high) * sparql_one() + sparql_scaled(coalesce(fractions, 0))) // size::HUGEINT)
            )
          )
        WHEN kind < 4 THEN
          sparql_floating_term(sparql_sum_double(low, high, fractions, floating) / size::DOUBLE, kind)
      END
    ELSE 'i0'
  END;

-- A partial sum contains its parts, each floating number separately, and the count of the numbers.
CREATE OR REPLACE TEMP MACRO sparql_partial_sum(low, high, fractions, listed, kind, size) AS
  {'low': low, 'high': high, 'fractions': fractions, 'listed': listed, 'kind': kind, 'size': size};
CREATE OR REPLACE TEMP MACRO sparql_listed_sum_term(low, high, fractions, listed, kind) AS
  sparql_sum_term(low, high, fractions, list_sum(listed), kind);
CREATE OR REPLACE TEMP MACRO sparql_listed_mean_term(low, high, fractions, listed, kind, size) AS
  sparql_mean_term(low, high, fractions, list_sum(listed), kind, size);

-- MIN and MAX: the first or last term in the order; among equal terms, the first or last by its text. Integers in their
-- usual form are kept apart, because they are cheap.
CREATE OR REPLACE TEMP MACRO sparql_plain_integer(term) AS
  CASE WHEN regexp_full_match(term, 'i(0|-?[1-9][0-9]{0,17})') THEN substr(term, 2)::BIGINT END;
CREATE OR REPLACE TEMP MACRO sparql_ranked(term) AS {'key': sparql_order_key(term), 'term': term};
CREATE OR REPLACE TEMP MACRO sparql_otherwise_ranked(term) AS
  CASE WHEN NOT regexp_full_match(term, 'i(0|-?[1-9][0-9]{0,17})') THEN sparql_ranked(term) END;
CREATE OR REPLACE TEMP MACRO sparql_ranked_integer(value) AS
  CASE
    WHEN value IS NOT NULL
    THEN
      {
        'key': {
          'class': 3, 'number': (value)::DOUBLE, 'rest': (value)::HUGEINT - (value)::DOUBLE::HUGEINT,
          'fraction': 0::DECIMAL(38, 18), 'text': '', 'type': ''
        },
        'term': 'i' || value
      }
  END;

-- `terms` may be NULL, for none; their order does not depend on the arrival of rows.
CREATE OR REPLACE TEMP MACRO sparql_group_concat(terms, separator) AS
  list_transform([list_sort(coalesce(terms, []::VARCHAR[]))], lambda sparql_g:
    CASE
      WHEN list_count(list_filter(sparql_g, lambda sparql_x: left(sparql_x, 1) = 'B')) = 0
      THEN 'S' || array_to_string(list_transform(sparql_g, lambda sparql_x: sparql_lexical(sparql_x)), separator)
    END
  )[1];
