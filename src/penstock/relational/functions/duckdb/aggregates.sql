-- Exact sums. A term is first read: as an integer, a decimal or a floating number. Integers, and the whole parts of large decimals, are
-- added up in two parts (`low` below 10^28 and `high`), decimals as they are below 10^8 and by their fractions above: so no sum of fewer
-- than 10^10 rows overflows while it is being made. The last step puts the parts together, and gives the greatest type that was among
-- the numbers.

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

-- The kind of a number: 0 is an integer, 1 a decimal, 2 a float, 3 a double; 4 is no number at all. That of a sum is the greatest. Along a
-- sweep kinds are counted, with a weight each, so that the greatest of those that are left can be told.
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

-- The last step. The parts of a sum of nothing are NULL.
CREATE OR REPLACE TEMP MACRO sparql_sum_whole(low, high) AS
  TRY(coalesce(high, 0)::HUGEINT * 10000000000000000000000000000::HUGEINT + coalesce(low, 0)::HUGEINT);
CREATE OR REPLACE TEMP MACRO sparql_sum_double(low, high, fractions, floating) AS
  coalesce(high, 0)::DOUBLE * 1e28::DOUBLE + coalesce(low, 0)::DOUBLE + coalesce(fractions, 0)::DOUBLE + coalesce(floating, 0);
-- Of a float or a double; a float is the one that the double is written as.
CREATE OR REPLACE TEMP MACRO sparql_floating_term(value, kind) AS
  CASE kind WHEN 2 THEN 'f' ELSE 'e' END
  || sparql_floating_text(CASE kind WHEN 2 THEN (value)::VARCHAR::FLOAT::VARCHAR ELSE (value)::VARCHAR END);
CREATE OR REPLACE TEMP MACRO sparql_sum_term(low, high, fractions, floating, kind) AS
  CASE
    WHEN kind IS NULL OR kind = 0 THEN 'i' || sparql_sum_whole(low, high)
    WHEN kind = 1 THEN sparql_decimal_term(TRY(sparql_sum_whole(low, high)::DECIMAL(38, 18) + coalesce(fractions, 0)))
    WHEN kind < 4 THEN sparql_floating_term(sparql_sum_double(low, high, fractions, floating), kind)
  END;
-- The mean of nothing is 0. Others are cut off after 18 fractional digits; only a sum of decimals is scaled for that at once, because
-- one of integers may be too large.
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

-- A partial sum has its parts, its floating numbers one by one, and how many numbers there are.
CREATE OR REPLACE TEMP MACRO sparql_partial_sum(low, high, fractions, listed, kind, size) AS
  {'low': low, 'high': high, 'fractions': fractions, 'listed': listed, 'kind': kind, 'size': size};
CREATE OR REPLACE TEMP MACRO sparql_listed_sum_term(low, high, fractions, listed, kind) AS
  sparql_sum_term(low, high, fractions, list_sum(listed), kind);
CREATE OR REPLACE TEMP MACRO sparql_listed_mean_term(low, high, fractions, listed, kind, size) AS
  sparql_mean_term(low, high, fractions, list_sum(listed), kind, size);

-- MIN and MAX: the term that comes first or last in the order; of equal ones, the first or last by its text. Integers as they are
-- usually written are kept apart, because they are cheap.
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

-- `terms` may be NULL, for none; they come in an order that no arrival of rows changes.
CREATE OR REPLACE TEMP MACRO sparql_group_concat(terms, separator) AS
  list_transform([list_sort(coalesce(terms, []::VARCHAR[]))], lambda sparql_g:
    CASE
      WHEN list_count(list_filter(sparql_g, lambda sparql_x: left(sparql_x, 1) = 'B')) = 0
      THEN 'S' || array_to_string(list_transform(sparql_g, lambda sparql_x: sparql_lexical(sparql_x)), separator)
    END
  )[1];
