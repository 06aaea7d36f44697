-- Casts (SPARQL 1.1 §17.5): from strings by their lexical form, from other literals by their value.

CREATE OR REPLACE TEMP MACRO sparql_canonical_date_time(term) AS
  list_transform([sparql_moment(term)], lambda sparql_m: 't' || sparql_local_text(sparql_local_instant(sparql_m)) || sparql_m.zone)[1];

CREATE OR REPLACE TEMP MACRO sparql_to_string(term) AS
  'S' || coalesce(
    CASE
      WHEN contains('in', left(term, 1)) THEN sparql_as_integer(term)::VARCHAR
      WHEN left(term, 1) = 'd' THEN sparql_decimal_text(sparql_decimal_value(term))
      WHEN left(term, 1) = 'e' THEN sparql_floating_text(sparql_double_value(term))
      WHEN left(term, 1) = 'f' THEN sparql_floating_text(sparql_float_value(term))
      WHEN left(term, 1) = 'b' THEN CASE sparql_as_boolean(term) WHEN TRUE THEN 'true' WHEN FALSE THEN 'false' END
      WHEN left(term, 1) = 't' THEN substr(sparql_canonical_date_time(term), 2)
    END,
    sparql_lexical(term)
  );
CREATE OR REPLACE TEMP MACRO sparql_to_boolean(term) AS
  CASE
    WHEN contains('Sb', left(term, 1)) THEN sparql_boolean_term(sparql_as_boolean('b' || substr(term, 2)))
    WHEN sparql_is_numeric(term) THEN sparql_boolean_term(sparql_ebv(term))
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_integer(term) AS
  'i' || CASE
    WHEN contains('in', left(term, 1)) THEN sparql_as_integer(term)
    WHEN left(term, 1) = 'S' THEN sparql_integer_value('i' || substr(term, 2))
    WHEN left(term, 1) = 'd' THEN trunc(sparql_decimal_value(term))::HUGEINT
    WHEN contains('ef', left(term, 1)) THEN TRY_CAST(trunc(sparql_double_value(term)) AS HUGEINT)
    WHEN left(term, 1) = 'b' THEN sparql_as_boolean(term)::HUGEINT
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_decimal(term) AS
  'd' || sparql_decimal_text(
    CASE
      WHEN contains('ind', left(term, 1)) THEN sparql_as_decimal(term)
      WHEN left(term, 1) = 'S' THEN sparql_decimal_value('d' || substr(term, 2))
      WHEN contains('ef', left(term, 1)) THEN sparql_double_as_decimal(sparql_double_value(term))
      WHEN left(term, 1) = 'b' THEN sparql_as_boolean(term)::INTEGER::DECIMAL(38, 18)
    END
  );
CREATE OR REPLACE TEMP MACRO sparql_to_double(term) AS
  sparql_double_term(
    CASE
      WHEN left(term, 1) = 'S' THEN CASE WHEN sparql_is_double_form(substr(term, 2)) THEN TRY_CAST(substr(term, 2) AS DOUBLE) END
      WHEN left(term, 1) = 'b' THEN sparql_as_boolean(term)::INTEGER::DOUBLE
      ELSE sparql_as_double(term)
    END
  );
CREATE OR REPLACE TEMP MACRO sparql_to_float_term(term) AS
  sparql_float_term(
    CASE
      WHEN left(term, 1) = 'S' THEN CASE WHEN sparql_is_double_form(substr(term, 2)) THEN TRY_CAST(substr(term, 2) AS FLOAT) END
      WHEN left(term, 1) = 'b' THEN sparql_as_boolean(term)::INTEGER::FLOAT
      ELSE sparql_as_float(term)
    END
  );
CREATE OR REPLACE TEMP MACRO sparql_canonical_date(term) AS
  list_transform([sparql_moment(term)], lambda sparql_m:
    'Ohttp://www.w3.org/2001/XMLSchema#date '
    || sparql_date_text(sparql_m.day + CASE WHEN sparql_m.clock >= sparql_day_length() THEN 1 ELSE 0 END) || sparql_m.zone
  )[1];
