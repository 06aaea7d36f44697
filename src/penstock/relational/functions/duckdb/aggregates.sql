-- Exact sums. A number is a whole part and a fraction (scaled by 10^18), added up apart; the whole part again in two, so that
-- no sum of fewer than 10^10 rows overflows while it is being made. The last step puts them together, and gives the
-- greatest type that was among the numbers.

CREATE OR REPLACE TEMP MACRO sparql_whole(term) AS
  CASE
    WHEN left(term, 1) IN ('i', 'n') THEN sparql_as_integer(term)
    WHEN left(term, 1) = 'd' THEN trunc(sparql_as_decimal(term))::HUGEINT
  END;
CREATE OR REPLACE TEMP MACRO sparql_sum_low(term) AS
  CASE WHEN length(term) <= 28 THEN sparql_whole(term) ELSE sparql_whole(term) % 10000000000000000000000000000::HUGEINT END;
CREATE OR REPLACE TEMP MACRO sparql_sum_high(term) AS
  CASE WHEN length(term) <= 28 THEN 0 ELSE sparql_whole(term) // 10000000000000000000000000000::HUGEINT END;
CREATE OR REPLACE TEMP MACRO sparql_sum_fraction(term) AS
  CASE
    WHEN left(term, 1) = 'd' THEN ((sparql_as_decimal(term) % 1) * 1000000000000000000::DECIMAL(19, 0))::BIGINT
    ELSE 0
  END;
CREATE OR REPLACE TEMP MACRO sparql_sum_floating(term) AS CASE WHEN left(term, 1) IN ('e', 'f') THEN sparql_as_double(term) END;

-- `low`, `high`, `fraction` and `floating` are sums; `faults`, `decimals`, `floats` and `doubles` say how many there were.
CREATE OR REPLACE TEMP MACRO sparql_sums(low, high, fraction, floating, faults, decimals, floats, doubles, size) AS
  {
    'low': coalesce(low, 0)::HUGEINT, 'high': coalesce(high, 0)::HUGEINT, 'fraction': coalesce(fraction, 0)::HUGEINT,
    'floating': floating, 'faults': faults, 'decimals': decimals, 'floats': floats, 'doubles': doubles, 'size': size
  };
CREATE OR REPLACE TEMP MACRO sparql_sum_as_double(sums) AS
  sums.high::DOUBLE * 1e28::DOUBLE + sums.low::DOUBLE + sums.fraction::DOUBLE / 1e18::DOUBLE + sums.floating;
CREATE OR REPLACE TEMP MACRO sparql_sum_as_integer(sums) AS TRY(sums.high * 10000000000000000000000000000::HUGEINT + sums.low);
CREATE OR REPLACE TEMP MACRO sparql_sum_as_decimal(sums) AS
  TRY(sparql_sum_as_integer(sums)::DECIMAL(38, 18) + sparql_unscaled(sums.fraction));
CREATE OR REPLACE TEMP MACRO sparql_sum_term(sums) AS
  list_transform([sums], lambda sparql_z:
    CASE
      WHEN sparql_z.faults > 0 THEN NULL
      WHEN sparql_z.doubles > 0 THEN sparql_double_term(sparql_sum_as_double(sparql_z))
      WHEN sparql_z.floats > 0 THEN sparql_float_term(sparql_sum_as_double(sparql_z)::VARCHAR::FLOAT)
      WHEN sparql_z.decimals > 0 THEN
        sparql_decimal_term(sparql_sum_as_decimal(sparql_z))
      ELSE 'i' || sparql_sum_as_integer(sparql_z)
    END
  )[1];
-- The mean of nothing is 0.
CREATE OR REPLACE TEMP MACRO sparql_mean_term(sums) AS
  list_transform([sums], lambda sparql_z:
    CASE
      WHEN sparql_z.size = 0 THEN 'i0'
      WHEN sparql_z.faults > 0 THEN NULL
      WHEN sparql_z.doubles > 0 THEN sparql_double_term(sparql_sum_as_double(sparql_z) / sparql_z.size::DOUBLE)
      WHEN sparql_z.floats > 0 THEN sparql_float_term((sparql_sum_as_double(sparql_z) / sparql_z.size::DOUBLE)::VARCHAR::FLOAT)
      WHEN sparql_z.decimals > 0 THEN
        sparql_decimal_term(sparql_quotient(sparql_sum_as_decimal(sparql_z), sparql_z.size::DECIMAL(38, 18)))
      ELSE sparql_decimal_term(sparql_integer_quotient(sparql_sum_as_integer(sparql_z), sparql_z.size::HUGEINT))
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

CREATE OR REPLACE TEMP MACRO sparql_group_concat(terms, separator, errors) AS
  list_transform([coalesce(terms, []::VARCHAR[])], lambda sparql_g:
    CASE
      WHEN errors = 0 AND list_count(list_filter(sparql_g, lambda sparql_x: left(sparql_x, 1) = 'B')) = 0
      THEN 'S' || array_to_string(list_transform(sparql_g, lambda sparql_x: sparql_lexical(sparql_x)), separator)
    END
  )[1];
