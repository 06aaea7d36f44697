-- Numbers: the macros that both engines share.

CREATE OR REPLACE TEMP MACRO sparql_numeral(term) AS CASE WHEN left(term, 1) = 'n' THEN split_part(term, ' ', 2) ELSE substr(term, 2) END;
CREATE OR REPLACE TEMP MACRO sparql_has_number_type(term) AS
  CASE WHEN left(term, 1) = 'n' THEN sparql_is_within_bounds(term) ELSE contains('idef', left(term, 1)) END;
CREATE OR REPLACE TEMP MACRO sparql_double_value(term) AS
  CASE
    WHEN sparql_has_number_form(term) THEN
      CASE
        WHEN left(term, 1) = 'f' THEN CAST(TRY_CAST(substr(term, 2) AS FLOAT) AS DOUBLE)
        ELSE TRY_CAST(sparql_numeral(term) AS DOUBLE)
      END
  END;
CREATE OR REPLACE TEMP MACRO sparql_as_double(term) AS CASE WHEN sparql_is_within_bounds(term) THEN sparql_double_value(term) END;
CREATE OR REPLACE TEMP MACRO sparql_float_value(term) AS
  CASE WHEN sparql_has_number_form(term) THEN TRY_CAST(sparql_numeral(term) AS FLOAT) END;
CREATE OR REPLACE TEMP MACRO sparql_as_float(term) AS CASE WHEN sparql_is_within_bounds(term) THEN sparql_float_value(term) END;

-- Values as terms, written as the oracle writes them: 5, 1.5, 2, INF; doubles without exponents.
CREATE OR REPLACE TEMP MACRO sparql_integer_term(value) AS 'i' || CAST(value AS STRING);
CREATE OR REPLACE TEMP MACRO sparql_decimal_term(value) AS 'd' || sparql_decimal_text(value);
