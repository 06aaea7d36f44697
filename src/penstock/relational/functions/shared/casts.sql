-- Casts (SPARQL 1.1 §17.5): from strings by their lexical form, from other literals by their value.

CREATE OR REPLACE TEMP MACRO sparql_to_date_time(term) AS
  CASE
    WHEN left(term, 1) = 'S' THEN sparql_canonical_date_time('t' || substr(term, 2))
    WHEN sparql_has_days(term) THEN sparql_canonical_date_time(term)
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_date(term) AS
  CASE
    WHEN left(term, 1) = 'S' THEN sparql_canonical_date('Ohttp://www.w3.org/2001/XMLSchema#date ' || substr(term, 2))
    WHEN sparql_has_days(term) THEN sparql_canonical_date(term)
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_day_time(term) AS
  sparql_day_time_term(
    CASE
      WHEN left(term, 1) = 'S' THEN sparql_duration(' ' || substr(term, 2))
      WHEN sparql_is_day_time(term) THEN sparql_duration(term)
    END
  );
