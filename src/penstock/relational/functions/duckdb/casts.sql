-- Casts (SPARQL 1.1 §17.5): from strings by their lexical form, from other literals by their value.

CREATE OR REPLACE TEMP MACRO sparql_numeric_text(term) AS substr(sparql_plus(term), 2);
CREATE OR REPLACE TEMP MACRO sparql_canonical_date_time(term) AS
  list_transform([sparql_fields(term)], lambda sparql_f: sparql_date_time_text(sparql_local_of(sparql_f), sparql_f.zone))[1];

CREATE OR REPLACE TEMP MACRO sparql_to_string(term) AS
  'S' || coalesce(
    CASE
      WHEN left(term, 1) IN ('i', 'n', 'd', 'e', 'f') THEN sparql_numeric_text(term)
      WHEN left(term, 1) = 'b' THEN CASE sparql_as_boolean(term) WHEN TRUE THEN 'true' WHEN FALSE THEN 'false' END
      WHEN left(term, 1) = 't' THEN sparql_canonical_date_time(term)
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
    WHEN left(term, 1) = 'S' THEN
      CASE WHEN sparql_is_double_form(substr(term, 2)) THEN sparql_float_term(TRY_CAST(substr(term, 2) AS FLOAT)) END
    WHEN left(term, 1) = 'b' THEN 'f' || sparql_as_boolean(term)::INTEGER
    ELSE sparql_float_term(sparql_to_float(sparql_as_double(term)))
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_date_time(term) AS
  CASE
    WHEN left(term, 1) = 'S' THEN 't' || sparql_canonical_date_time('t' || substr(term, 2))
    WHEN sparql_has_days(term) THEN 't' || sparql_canonical_date_time(term)
  END;
CREATE OR REPLACE TEMP MACRO sparql_canonical_date(term) AS
  'Ohttp://www.w3.org/2001/XMLSchema#date '
  || list_transform([sparql_fields(term)], lambda sparql_f:
    sparql_date_text(sparql_f.days + (sparql_f.seconds = 86400 * sparql_one())::INTEGER) || sparql_f.zone
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_to_date(term) AS
  CASE
    WHEN left(term, 1) = 'S' THEN sparql_canonical_date('Ohttp://www.w3.org/2001/XMLSchema#date ' || substr(term, 2))
    WHEN sparql_has_days(term) THEN sparql_canonical_date(term)
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_day_time(term) AS
  CASE
    WHEN left(term, 1) = 'S' THEN sparql_day_time_term(sparql_duration_seconds(substr(term, 2)))
    WHEN sparql_is_day_time(term) THEN sparql_day_time_term(sparql_duration_seconds(sparql_lexical(term)))
  END;
