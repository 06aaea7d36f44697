-- Casts (SPARQL 1.1 §17.5): from strings by their lexical form, from other literals by their value.

CREATE OR REPLACE TEMP MACRO sparql_numeric_text(term) AS substr(sparql_plus(term), 2);
CREATE OR REPLACE TEMP MACRO sparql_canonical_date_time(text) AS
  CASE
    WHEN sparql_as_instant('t' || text) IS NOT NULL THEN sparql_date_time_text(sparql_local_instant(text), sparql_zone_canonical(text))
  END;

CREATE OR REPLACE TEMP MACRO sparql_to_string(term) AS
  'S' || coalesce(
    CASE
      WHEN left(term, 1) IN ('i', 'n', 'd', 'e', 'f') THEN sparql_numeric_text(term)
      WHEN left(term, 1) = 'b' THEN CASE sparql_as_boolean(term) WHEN TRUE THEN 'true' WHEN FALSE THEN 'false' END
      WHEN left(term, 1) = 't' THEN sparql_canonical_date_time(substr(term, 2))
    END,
    sparql_lexical(term)
  );
CREATE OR REPLACE TEMP MACRO sparql_to_boolean(term) AS
  CASE
    WHEN left(term, 1) IN ('S', 'b') THEN sparql_boolean_term(sparql_as_boolean('b' || substr(term, 2)))
    WHEN sparql_is_numeric(term) THEN sparql_boolean_term(sparql_ebv(term))
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_integer(term) AS
  CASE
    WHEN left(term, 1) IN ('i', 'n') THEN 'i' || sparql_as_integer(term)
    WHEN left(term, 1) = 'S' THEN 'i' || sparql_as_integer('i' || substr(term, 2))
    WHEN left(term, 1) = 'd' THEN 'i' || sparql_as_decimal(term) // sparql_one()
    WHEN left(term, 1) IN ('e', 'f') THEN 'i' || TRY_CAST(trunc(sparql_as_double(term)) AS HUGEINT)
    WHEN left(term, 1) = 'b' THEN 'i' || sparql_as_boolean(term)::INTEGER
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_decimal(term) AS
  CASE
    WHEN left(term, 1) IN ('i', 'n', 'd') THEN sparql_decimal_term(sparql_as_decimal(term))
    WHEN left(term, 1) = 'S' THEN sparql_decimal_term(sparql_as_decimal('d' || substr(term, 2)))
    WHEN left(term, 1) IN ('e', 'f') THEN
      sparql_decimal_term(TRY_CAST(trunc(sparql_as_double(term) * 1e18::DOUBLE) AS HUGEINT))
    WHEN left(term, 1) = 'b' THEN 'd' || sparql_as_boolean(term)::INTEGER
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_double(term) AS
  CASE
    WHEN left(term, 1) = 'S' THEN sparql_double_term(sparql_as_double('e' || substr(term, 2)))
    WHEN left(term, 1) = 'b' THEN 'e' || sparql_as_boolean(term)::INTEGER
    ELSE sparql_double_term(sparql_as_double(term))
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_float_term(term) AS
  CASE
    WHEN left(term, 1) = 'S' THEN sparql_float_term(sparql_as_float('f' || substr(term, 2)))
    WHEN left(term, 1) = 'b' THEN 'f' || sparql_as_boolean(term)::INTEGER
    ELSE sparql_float_term(sparql_as_float(term))
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_date_time(term) AS
  CASE
    WHEN left(term, 1) IN ('S', 't') THEN 't' || sparql_canonical_date_time(substr(term, 2))
    WHEN sparql_is_date(term) AND sparql_as_instant(term) IS NOT NULL
    THEN 't' || sparql_without_zone(sparql_lexical(term)) || 'T00:00:00' || sparql_zone_canonical(term)
  END;
CREATE OR REPLACE TEMP MACRO sparql_date_term(text) AS 'Ohttp://www.w3.org/2001/XMLSchema#date ' || text;
CREATE OR REPLACE TEMP MACRO sparql_to_date(term) AS
  CASE
    WHEN left(term, 1) = 'S' THEN
      CASE WHEN sparql_as_instant(sparql_date_term(substr(term, 2))) IS NOT NULL THEN sparql_date_term(substr(term, 2)) END
    ELSE sparql_date_term(sparql_date_of(term) || sparql_zone_of(term))
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_day_time(term) AS
  CASE
    WHEN left(term, 1) = 'S' THEN sparql_day_time_term(sparql_duration_seconds(substr(term, 2)))
    WHEN sparql_is_day_time(term) THEN sparql_day_time_term(sparql_as_instant(term))
  END;
