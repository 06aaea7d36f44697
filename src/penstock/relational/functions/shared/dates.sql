-- Dates and times: the macros that both engines share.

CREATE OR REPLACE TEMP MACRO sparql_is_date(term) AS sparql_starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#date ');
CREATE OR REPLACE TEMP MACRO sparql_is_time(term) AS sparql_starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#time ');
CREATE OR REPLACE TEMP MACRO sparql_is_day_time(term) AS
  sparql_starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#dayTimeDuration ');
CREATE OR REPLACE TEMP MACRO sparql_is_year_month(term) AS
  sparql_starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#yearMonthDuration ');
CREATE OR REPLACE TEMP MACRO sparql_has_days(term) AS left(term, 1) = 't' OR sparql_is_date(term);
CREATE OR REPLACE TEMP MACRO sparql_has_hours(term) AS left(term, 1) = 't' OR sparql_is_time(term);
CREATE OR REPLACE TEMP MACRO sparql_local_instant(moment) AS sparql_days(moment.day) + moment.clock;
CREATE OR REPLACE TEMP MACRO sparql_time_line(term) AS CASE WHEN left(term, 1) = 't' THEN 't' ELSE split_part(term, ' ', 1) END;
CREATE OR REPLACE TEMP MACRO sparql_time_difference(a, b) AS sparql_time_sum(a, b, -1);
CREATE OR REPLACE TEMP MACRO sparql_time_negated(term) AS
  CASE
    WHEN sparql_is_day_time(term) THEN sparql_day_time_term(-sparql_duration(term))
    WHEN sparql_is_year_month(term) THEN sparql_year_month_term(-sparql_duration(term))
  END;
