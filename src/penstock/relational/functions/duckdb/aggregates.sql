-- Exact sums. A number is a whole part and a fraction (scaled by 10^18), both added up apart; the last step puts them
-- together, and gives the greatest type that was among the numbers.

CREATE OR REPLACE TEMP MACRO sparql_whole(term) AS
  CASE
    WHEN left(term, 1) IN ('i', 'n') THEN sparql_as_integer(term)
    WHEN left(term, 1) = 'd' THEN sparql_as_decimal(term) // sparql_one()
  END;
