-- Casts (SPARQL 1.1 §17.5): from strings by their lexical form, from other literals by their value.

CREATE OR REPLACE TEMP MACRO sparql_canonical_date_time(term) AS
  transform(array(sparql_moment(term)), m ->
    transform(array(sparql_local_instant(m)), l -> concat('t', sparql_local_text(l), m.zone))[0]
  )[0];

CREATE OR REPLACE TEMP MACRO sparql_to_string(term) AS
  concat(
    'S',
    coalesce(
      CASE
        WHEN contains('in', left(term, 1)) THEN CAST(sparql_as_integer(term) AS STRING)
        WHEN left(term, 1) = 'd' THEN sparql_decimal_text(sparql_decimal_value(term))
        WHEN left(term, 1) = 'e' THEN sparql_floating_text(sparql_double_value(term))
        WHEN left(term, 1) = 'f' THEN sparql_floating_text(sparql_float_value(term))
        WHEN left(term, 1) = 'b' THEN CASE sparql_as_boolean(term) WHEN TRUE THEN 'true' WHEN FALSE THEN 'false' END
        WHEN left(term, 1) = 't' THEN substr(sparql_canonical_date_time(term), 2)
      END,
      sparql_lexical(term)
    )
  );
CREATE OR REPLACE TEMP MACRO sparql_to_boolean(term) AS
  CASE
    WHEN contains('Sb', left(term, 1)) THEN
      CASE WHEN substr(term, 2) IN ('true', '1') THEN 'btrue' WHEN substr(term, 2) IN ('false', '0') THEN 'bfalse' END
    WHEN sparql_is_numeric(term) THEN sparql_boolean_term(sparql_ebv(term))
  END;
CREATE OR REPLACE TEMP MACRO sparql_to_integer(term) AS
  sparql_integer_term(
    CASE
      WHEN contains('in', left(term, 1)) THEN sparql_as_integer(term)
      WHEN left(term, 1) = 'S' THEN sparql_integer_value(concat('i', substr(term, 2)))
      WHEN left(term, 1) = 'd' THEN sparql_whole_quotient(sparql_decimal_value(term), sparql_one())
      WHEN contains('ef', left(term, 1)) THEN transform(array(sparql_double_value(term)), v -> sparql_double_as_integer(v))[0]
      WHEN left(term, 1) = 'b' THEN CAST(sparql_as_boolean(term) AS INT)
    END
  );
CREATE OR REPLACE TEMP MACRO sparql_to_decimal(term) AS
  sparql_decimal_term(
    CASE
      WHEN contains('ind', left(term, 1)) THEN sparql_as_decimal(term)
      WHEN left(term, 1) = 'S' THEN sparql_decimal_value(concat('d', substr(term, 2)))
      WHEN contains('ef', left(term, 1)) THEN transform(array(sparql_double_value(term)), v -> sparql_double_as_decimal(v))[0]
      WHEN left(term, 1) = 'b' THEN CAST(sparql_as_boolean(term) AS INT) * sparql_one()
    END
  );
CREATE OR REPLACE TEMP MACRO sparql_to_double(term) AS
  sparql_double_term(
    CASE
      WHEN left(term, 1) = 'S' THEN CASE WHEN sparql_is_double_form(substr(term, 2)) THEN TRY_CAST(substr(term, 2) AS DOUBLE) END
      WHEN left(term, 1) = 'b' THEN CAST(CAST(sparql_as_boolean(term) AS INT) AS DOUBLE)
      ELSE sparql_as_double(term)
    END
  );
CREATE OR REPLACE TEMP MACRO sparql_to_float_term(term) AS
  sparql_float_term(
    CASE
      WHEN left(term, 1) = 'S' THEN CASE WHEN sparql_is_double_form(substr(term, 2)) THEN TRY_CAST(substr(term, 2) AS FLOAT) END
      WHEN left(term, 1) = 'b' THEN CAST(CAST(sparql_as_boolean(term) AS INT) AS FLOAT)
      ELSE sparql_as_float(term)
    END
  );
CREATE OR REPLACE TEMP MACRO sparql_canonical_date(term) AS
  transform(array(sparql_moment(term)), m ->
    concat('Ohttp://www.w3.org/2001/XMLSchema#date ', sparql_date_text(sparql_next_midnight(m)), m.zone)
  )[0];
