-- Exact sums. Integers, and the whole parts of large decimals, are added up in two parts (`low` below 10^28 and `high`), decimals as they
-- are below 10^8 and by their fractions above: so no sum of fewer than 10^10 rows overflows while it is being made. The last step puts
-- the parts together, and gives the greatest type that was among the numbers.

CREATE OR REPLACE TEMP MACRO sparql_small_decimal(value) AS
  CASE WHEN value BETWEEN -100000000::DECIMAL(38, 18) AND 100000000::DECIMAL(38, 18) THEN value ELSE value % 1 END;
CREATE OR REPLACE TEMP MACRO sparql_whole(term) AS
  CASE
    WHEN left(term, 1) IN ('i', 'n') THEN sparql_as_integer(term)
    WHEN left(term, 1) = 'd' THEN
      (sparql_as_decimal(term) - sparql_small_decimal(sparql_as_decimal(term)))::HUGEINT
  END;
CREATE OR REPLACE TEMP MACRO sparql_sum_low(term) AS
  CASE WHEN length(term) <= 28 THEN sparql_whole(term) ELSE sparql_whole(term) % 10000000000000000000000000000::HUGEINT END;
CREATE OR REPLACE TEMP MACRO sparql_sum_high(term) AS
  CASE WHEN length(term) > 28 THEN sparql_whole(term) // 10000000000000000000000000000::HUGEINT END;
CREATE OR REPLACE TEMP MACRO sparql_sum_decimal(term) AS
  CASE WHEN left(term, 1) = 'd' THEN sparql_small_decimal(sparql_as_decimal(term)) END;
CREATE OR REPLACE TEMP MACRO sparql_sum_floating(term) AS CASE WHEN left(term, 1) IN ('e', 'f') THEN sparql_as_double(term) END;

-- The kind of a number: 0 is an integer, 1 a decimal, 2 a float, 3 a double; 4 is no number at all. That of a sum is the greatest. Along a
-- sweep kinds are counted, with a weight each, so that the greatest of those that are left can be told.
CREATE OR REPLACE TEMP MACRO sparql_sum_kind(term) AS
  CASE
    WHEN left(term, 1) IN ('i', 'n') AND sparql_as_integer(term) IS NOT NULL THEN 0
    WHEN left(term, 1) = 'd' AND sparql_as_decimal(term) IS NOT NULL THEN 1
    WHEN left(term, 1) = 'f' AND sparql_as_double(term) IS NOT NULL THEN 2
    WHEN left(term, 1) = 'e' AND sparql_as_double(term) IS NOT NULL THEN 3
    ELSE 4
  END;
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

CREATE OR REPLACE TEMP MACRO sparql_sums(low, high, fractions, floating, kind) AS
  {
    'low': coalesce(low, 0)::HUGEINT, 'high': coalesce(high, 0)::HUGEINT, 'fractions': coalesce(fractions, 0)::DECIMAL(38, 18),
    'floating': coalesce(floating, 0)::DOUBLE, 'kind': kind
  };
CREATE OR REPLACE TEMP MACRO sparql_sum_as_double(sums) AS
  sums.high::DOUBLE * 1e28::DOUBLE + sums.low::DOUBLE + sums.fractions::DOUBLE + sums.floating;
CREATE OR REPLACE TEMP MACRO sparql_sum_as_integer(sums) AS TRY(sums.high * 10000000000000000000000000000::HUGEINT + sums.low);
CREATE OR REPLACE TEMP MACRO sparql_sum_as_decimal(sums) AS
  TRY(sparql_sum_as_integer(sums)::DECIMAL(38, 18) + sums.fractions);
CREATE OR REPLACE TEMP MACRO sparql_sum_term(sums) AS
  list_transform([sums], lambda sparql_z:
    CASE coalesce(sparql_z.kind, 0)
      WHEN 0 THEN 'i' || sparql_sum_as_integer(sparql_z)
      WHEN 1 THEN sparql_decimal_term(sparql_sum_as_decimal(sparql_z))
      WHEN 2 THEN sparql_float_term(sparql_sum_as_double(sparql_z)::VARCHAR::FLOAT)
      WHEN 3 THEN sparql_double_term(sparql_sum_as_double(sparql_z))
    END
  )[1];
-- The mean of nothing is 0.
CREATE OR REPLACE TEMP MACRO sparql_mean_term(sums, size) AS
  list_transform([{'sums': sums, 'size': size}], lambda sparql_z:
    CASE
      WHEN sparql_z.size > 0 THEN
        CASE sparql_z.sums.kind
          WHEN 0 THEN sparql_decimal_term(sparql_integer_quotient(sparql_sum_as_integer(sparql_z.sums), sparql_z.size::HUGEINT))
          WHEN 1 THEN
            sparql_decimal_term(sparql_quotient(sparql_sum_as_decimal(sparql_z.sums), sparql_z.size::DECIMAL(38, 18)))
          WHEN 2 THEN
            sparql_float_term((sparql_sum_as_double(sparql_z.sums) / sparql_z.size::DOUBLE)::VARCHAR::FLOAT)
          WHEN 3 THEN sparql_double_term(sparql_sum_as_double(sparql_z.sums) / sparql_z.size::DOUBLE)
        END
      ELSE 'i0'
    END
  )[1];

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
CREATE OR REPLACE TEMP MACRO sparql_least(integer, other) AS least(sparql_ranked_integer(integer), other).term;
CREATE OR REPLACE TEMP MACRO sparql_greatest(integer, other) AS greatest(sparql_ranked_integer(integer), other).term;

-- `terms` may be NULL, for none; they come in an order that no arrival of rows changes.
CREATE OR REPLACE TEMP MACRO sparql_group_concat(terms, separator) AS
  list_transform([list_sort(coalesce(terms, []::VARCHAR[]))], lambda sparql_g:
    CASE
      WHEN list_count(list_filter(sparql_g, lambda sparql_x: left(sparql_x, 1) = 'B')) = 0
      THEN 'S' || array_to_string(list_transform(sparql_g, lambda sparql_x: sparql_lexical(sparql_x)), separator)
    END
  )[1];
