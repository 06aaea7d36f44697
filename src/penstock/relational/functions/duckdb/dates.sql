-- Dates and times. An instant is a HUGEINT too: seconds since 1970, scaled by 10^18, in UTC; a value without a time
-- zone is taken as UTC and compared with care (XSD 1.1 part 2, E.3.3).

CREATE OR REPLACE TEMP MACRO sparql_is_zone_form(text) AS regexp_full_match(text, '(Z|[+-]((0[0-9]|1[0-3]):[0-5][0-9]|14:00))?');
CREATE OR REPLACE TEMP MACRO sparql_is_date_form(text) AS
  regexp_full_match(text, '-?([1-9][0-9]{3,8}|0[0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])');
CREATE OR REPLACE TEMP MACRO sparql_is_date_time_form(text) AS
  regexp_full_match(
    text,
    '-?([1-9][0-9]{3,8}|0[0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
    || 'T(([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,18}0*)?|24:00:00(\.0+)?)'
    || '(Z|[+-]((0[0-9]|1[0-3]):[0-5][0-9]|14:00))?'
  );
CREATE OR REPLACE TEMP MACRO sparql_is_time_form(text) AS
  regexp_full_match(
    text,
    '(([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,18}0*)?|24:00:00(\.0+)?)'
    || '(Z|[+-]((0[0-9]|1[0-3]):[0-5][0-9]|14:00))?'
  );

-- Days since 1970 of a date, NULL where there is no such day. The calendar repeats every 400 years (146,097 days), so
-- that years before 1 and after 9999 are those of 2000 to 2399, moved.
CREATE OR REPLACE TEMP MACRO sparql_days(date_text) AS
  CASE
    WHEN length(date_text) = 10 AND left(date_text, 1) NOT IN ('-', '0') THEN TRY_CAST(date_text AS DATE) - DATE '1970-01-01'
    ELSE
      list_transform([left(date_text, -6)::BIGINT], lambda sparql_y:
        (TRY_CAST((2000 + (sparql_y % 400 + 400) % 400) || right(date_text, 6) AS DATE) - DATE '1970-01-01')
        + (sparql_y - 2000 - (sparql_y % 400 + 400) % 400) // 400 * 146097
      )[1]
  END;

-- Of 'HH:MM:SS.sss' with or without a zone: scaled seconds, and the zone's text.
CREATE OR REPLACE TEMP MACRO sparql_time_seconds(time_text) AS
  (left(time_text, 2)::BIGINT * 3600 + substr(time_text, 4, 2)::BIGINT * 60 + substr(time_text, 7, 2)::BIGINT) * sparql_one()
  + CASE
    WHEN substr(time_text, 9, 1) = '.' THEN rpad(regexp_extract(substr(time_text, 10), '^[0-9]+'), 18, '0')::HUGEINT
    ELSE 0
  END;
CREATE OR REPLACE TEMP MACRO sparql_zone_text(text) AS
  CASE
    WHEN right(text, 1) = 'Z' THEN 'Z'
    WHEN length(text) > 5 AND left(right(text, 6), 1) IN ('+', '-') AND right(text, 3)[1] = ':' THEN right(text, 6)
    ELSE ''
  END;
CREATE OR REPLACE TEMP MACRO sparql_zone_minutes(zone) AS
  CASE
    WHEN zone IN ('', 'Z') THEN 0
    ELSE (substr(zone, 2, 2)::BIGINT * 60 + substr(zone, 5, 2)::BIGINT) * CASE WHEN left(zone, 1) = '-' THEN -1 ELSE 1 END
  END;
CREATE OR REPLACE TEMP MACRO sparql_without_zone(text) AS left(text, length(text) - length(sparql_zone_text(text)));
CREATE OR REPLACE TEMP MACRO sparql_zone_offset(text) AS sparql_zone_minutes(sparql_zone_text(text)) * 60 * sparql_one();

CREATE OR REPLACE TEMP MACRO sparql_local_instant(date_time_text) AS
  sparql_days(split_part(date_time_text, 'T', 1)) * 86400 * sparql_one() + sparql_time_seconds(split_part(date_time_text, 'T', 2));

-- Durations: those of days and seconds in scaled seconds, those of years and months in months.
CREATE OR REPLACE TEMP MACRO sparql_duration_part(text, letter) AS
  coalesce(TRY_CAST(regexp_extract(text, '([0-9]+)' || letter, 1) AS HUGEINT), 0);
CREATE OR REPLACE TEMP MACRO sparql_duration_seconds(text) AS
  CASE
    WHEN regexp_full_match(text, '-?P([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]{1,18}0*)?S)?)?')
      AND NOT regexp_full_match(text, '.*[PT]')
    THEN
      TRY(
        (
          (sparql_duration_part(text, 'D') * 86400 + sparql_duration_part(text, 'H') * 3600 + sparql_duration_part(text, 'M') * 60)
          * sparql_one()
          + coalesce(sparql_scaled(nullif(regexp_extract(text, '([0-9.]+)S', 1), '')), 0)
        ) * CASE WHEN left(text, 1) = '-' THEN -1 ELSE 1 END
      )
  END;
CREATE OR REPLACE TEMP MACRO sparql_duration_months(text) AS
  CASE
    WHEN regexp_full_match(text, '-?P([0-9]+Y)?([0-9]+M)?') AND NOT regexp_full_match(text, '.*P')
    THEN
      TRY(
        (sparql_duration_part(text, 'Y') * 12 + sparql_duration_part(text, 'M')) * CASE WHEN left(text, 1) = '-' THEN -1 ELSE 1 END
      )
  END;

-- Where a term lies on the line of its own datatype (dateTime, date, time, the two durations); NULL for any other.
CREATE OR REPLACE TEMP MACRO sparql_is_date(term) AS starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#date ');
CREATE OR REPLACE TEMP MACRO sparql_is_time(term) AS starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#time ');
CREATE OR REPLACE TEMP MACRO sparql_is_day_time(term) AS
  starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#dayTimeDuration ');
CREATE OR REPLACE TEMP MACRO sparql_is_year_month(term) AS
  starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#yearMonthDuration ');
CREATE OR REPLACE TEMP MACRO sparql_as_instant(term) AS
  CASE
    WHEN left(term, 1) = 't' THEN
      CASE
        WHEN sparql_is_date_time_form(substr(term, 2))
        THEN sparql_local_instant(substr(term, 2)) - sparql_zone_offset(substr(term, 2))
      END
    WHEN left(term, 1) <> 'O' THEN NULL
    WHEN sparql_is_date(term) THEN
      CASE
        WHEN sparql_is_date_form(sparql_without_zone(sparql_lexical(term)))
          AND sparql_is_zone_form(sparql_zone_text(sparql_lexical(term)))
        THEN
          sparql_days(sparql_without_zone(sparql_lexical(term))) * 86400 * sparql_one()
          - sparql_zone_offset(sparql_lexical(term))
      END
    WHEN sparql_is_time(term) THEN
      CASE
        WHEN sparql_is_time_form(sparql_lexical(term))
        THEN sparql_time_seconds(sparql_lexical(term)) - sparql_zone_offset(sparql_lexical(term))
      END
    WHEN sparql_is_day_time(term) THEN sparql_duration_seconds(sparql_lexical(term))
    WHEN sparql_is_year_month(term) THEN sparql_duration_months(sparql_lexical(term))
  END;
CREATE OR REPLACE TEMP MACRO sparql_has_zone(term) AS sparql_zone_text(term) <> '';

-- The parts of a dateTime as it is written; 24:00:00 is the next day's midnight.
CREATE OR REPLACE TEMP MACRO sparql_year_text(year) AS
  CASE WHEN year < 0 THEN '-' ELSE '' END || CASE WHEN abs(year) < 10000 THEN lpad(abs(year)::VARCHAR, 4, '0') ELSE abs(year)::VARCHAR END;
CREATE OR REPLACE TEMP MACRO sparql_date_text(days) AS
  list_transform([{'cycle': (days - (days % 146097 + 146097) % 146097) // 146097, 'day': (days % 146097 + 146097) % 146097}],
    lambda sparql_c:
      list_transform([DATE '1970-01-01' + sparql_c.day::INTEGER], lambda sparql_day:
        sparql_year_text(year(sparql_day) + sparql_c.cycle * 400) || strftime(sparql_day, '-%m-%d')
      )[1]
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_is_midnight_24(text) AS contains(text, 'T24:');
CREATE OR REPLACE TEMP MACRO sparql_next_day(date_text) AS sparql_date_text(sparql_days(date_text) + 1);
CREATE OR REPLACE TEMP MACRO sparql_date_part_text(text) AS
  CASE
    WHEN sparql_is_midnight_24(text) THEN sparql_next_day(split_part(text, 'T', 1))
    ELSE split_part(text, 'T', 1)
  END;
CREATE OR REPLACE TEMP MACRO sparql_time_text(scaled_seconds) AS
  list_transform([{'s': scaled_seconds // sparql_one(), 'f': scaled_seconds % sparql_one()}], lambda sparql_w:
    lpad((sparql_w.s // 3600)::VARCHAR, 2, '0') || ':' || lpad((sparql_w.s // 60 % 60)::VARCHAR, 2, '0') || ':'
    || lpad((sparql_w.s % 60)::VARCHAR, 2, '0')
    || CASE WHEN sparql_w.f = 0 THEN '' ELSE rtrim('.' || lpad(sparql_w.f::VARCHAR, 18, '0'), '0') END
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_zone_canonical(text) AS
  CASE WHEN sparql_zone_text(text) IN ('+00:00', '-00:00') THEN 'Z' ELSE sparql_zone_text(text) END;
-- A dateTime from a local instant and a zone.
CREATE OR REPLACE TEMP MACRO sparql_date_time_text(local, zone) AS
  list_transform([local], lambda sparql_l:
    list_transform([(sparql_l % (86400 * sparql_one()) + 86400 * sparql_one()) % (86400 * sparql_one())], lambda sparql_t:
      sparql_date_text(((sparql_l - sparql_t) // (86400 * sparql_one()))::BIGINT) || 'T' || sparql_time_text(sparql_t) || zone
    )[1]
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_day_time_term(scaled_seconds) AS
  list_transform([scaled_seconds], lambda sparql_v:
    list_transform([{'s': abs(sparql_v // sparql_one()), 'f': abs(sparql_v % sparql_one())}], lambda sparql_w:
      'Ohttp://www.w3.org/2001/XMLSchema#dayTimeDuration ' || CASE WHEN sparql_v < 0 THEN '-P' ELSE 'P' END
      || CASE WHEN sparql_w.s >= 86400 THEN (sparql_w.s // 86400) || 'D' ELSE '' END
      || CASE WHEN sparql_w.s % 86400 > 0 OR sparql_w.f > 0 OR sparql_v = 0 THEN 'T' ELSE '' END
      || CASE WHEN sparql_w.s % 86400 >= 3600 THEN (sparql_w.s % 86400 // 3600) || 'H' ELSE '' END
      || CASE WHEN sparql_w.s % 3600 >= 60 THEN (sparql_w.s % 3600 // 60) || 'M' ELSE '' END
      || CASE
        WHEN sparql_w.s % 60 > 0 OR sparql_w.f > 0 OR sparql_v = 0
        THEN sparql_decimal_text(sparql_w.s % 60 * sparql_one() + sparql_w.f) || 'S'
        ELSE ''
      END
    )[1]
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_year_month_term(months) AS
  list_transform([months], lambda sparql_m:
    'Ohttp://www.w3.org/2001/XMLSchema#yearMonthDuration ' || CASE WHEN sparql_m < 0 THEN '-P' ELSE 'P' END
    || CASE WHEN abs(sparql_m) >= 12 THEN (abs(sparql_m) // 12) || 'Y' ELSE '' END
    || CASE WHEN abs(sparql_m) % 12 > 0 OR sparql_m = 0 THEN (abs(sparql_m) % 12) || 'M' ELSE '' END
  )[1];

-- YEAR, MONTH, DAY, HOURS, MINUTES, SECONDS, TIMEZONE, TZ.
CREATE OR REPLACE TEMP MACRO sparql_date_of(term) AS
  CASE
    WHEN sparql_as_instant(term) IS NULL THEN NULL
    WHEN left(term, 1) = 't' THEN sparql_date_part_text(substr(term, 2))
    WHEN sparql_is_date(term) THEN sparql_without_zone(sparql_lexical(term))
  END;
CREATE OR REPLACE TEMP MACRO sparql_time_of(term) AS
  CASE
    WHEN sparql_as_instant(term) IS NULL THEN NULL
    WHEN left(term, 1) = 't' THEN sparql_without_zone(split_part(term, 'T', 2)).regexp_replace('^24', '00')
    WHEN sparql_is_time(term) THEN sparql_without_zone(sparql_lexical(term)).regexp_replace('^24', '00')
  END;
CREATE OR REPLACE TEMP MACRO sparql_zone_of(term) AS
  CASE
    WHEN sparql_as_instant(term) IS NULL THEN NULL
    WHEN left(term, 1) = 't' OR sparql_is_date(term) OR sparql_is_time(term) THEN sparql_zone_canonical(term)
  END;
CREATE OR REPLACE TEMP MACRO sparql_year(term) AS 'i' || left(sparql_date_of(term), -6)::BIGINT;
CREATE OR REPLACE TEMP MACRO sparql_month(term) AS 'i' || left(right(sparql_date_of(term), 5), 2)::BIGINT;
CREATE OR REPLACE TEMP MACRO sparql_day(term) AS 'i' || right(sparql_date_of(term), 2)::BIGINT;
CREATE OR REPLACE TEMP MACRO sparql_hours(term) AS 'i' || left(sparql_time_of(term), 2)::BIGINT;
CREATE OR REPLACE TEMP MACRO sparql_minutes(term) AS 'i' || substr(sparql_time_of(term), 4, 2)::BIGINT;
CREATE OR REPLACE TEMP MACRO sparql_seconds(term) AS sparql_decimal_term(sparql_scaled(substr(sparql_time_of(term), 7)));
CREATE OR REPLACE TEMP MACRO sparql_timezone(term) AS
  sparql_day_time_term(sparql_zone_minutes(nullif(sparql_zone_of(term), '')) * 60 * sparql_one());
CREATE OR REPLACE TEMP MACRO sparql_tz(term) AS 'S' || sparql_zone_of(term);

-- Sums and differences, of numbers and of times.
CREATE OR REPLACE TEMP MACRO sparql_moved(term, scaled_seconds) AS
  CASE
    WHEN sparql_as_instant(term) IS NOT NULL THEN
      't' || sparql_date_time_text(
        TRY(sparql_as_instant(term) + sparql_zone_offset(substr(term, 2)) + scaled_seconds), sparql_zone_canonical(term)
      )
  END;
CREATE OR REPLACE TEMP MACRO sparql_add(a, b) AS
  CASE
    WHEN sparql_are_integers(a, b) THEN 'i' || TRY(sparql_as_integer(a) + sparql_as_integer(b))
    WHEN sparql_are_exact(a, b) THEN sparql_decimal_term(TRY(sparql_as_decimal(a) + sparql_as_decimal(b)))
    WHEN sparql_are_numbers(a, b) THEN
      CASE
        WHEN sparql_has_double(a, b) THEN sparql_double_term(sparql_as_double(a) + sparql_as_double(b))
        ELSE sparql_float_term(sparql_to_float(sparql_as_float(a)::DOUBLE + sparql_as_float(b)::DOUBLE))
      END
    WHEN left(a, 1) = 't' AND sparql_is_day_time(b) THEN sparql_moved(a, sparql_as_instant(b))
    WHEN left(b, 1) = 't' AND sparql_is_day_time(a) THEN sparql_moved(b, sparql_as_instant(a))
    WHEN sparql_is_day_time(a) AND sparql_is_day_time(b) THEN
      sparql_day_time_term(TRY(sparql_as_instant(a) + sparql_as_instant(b)))
    WHEN sparql_is_year_month(a) AND sparql_is_year_month(b) THEN
      sparql_year_month_term(TRY(sparql_as_instant(a) + sparql_as_instant(b)))
  END;
CREATE OR REPLACE TEMP MACRO sparql_subtract(a, b) AS
  CASE
    WHEN sparql_are_integers(a, b) THEN 'i' || TRY(sparql_as_integer(a) - sparql_as_integer(b))
    WHEN sparql_are_exact(a, b) THEN sparql_decimal_term(TRY(sparql_as_decimal(a) - sparql_as_decimal(b)))
    WHEN sparql_are_numbers(a, b) THEN
      CASE
        WHEN sparql_has_double(a, b) THEN sparql_double_term(sparql_as_double(a) - sparql_as_double(b))
        ELSE sparql_float_term(sparql_to_float(sparql_as_float(a)::DOUBLE - sparql_as_float(b)::DOUBLE))
      END
    WHEN left(a, 1) = 't' AND sparql_is_day_time(b) THEN sparql_moved(a, TRY(-sparql_as_instant(b)))
    WHEN (left(a, 1) = 't' AND left(b, 1) = 't') OR (sparql_is_date(a) AND sparql_is_date(b)) OR (sparql_is_time(a) AND sparql_is_time(b)) THEN
      CASE
        WHEN sparql_has_zone(a) = sparql_has_zone(b)
        THEN sparql_day_time_term(TRY(sparql_as_instant(a) - sparql_as_instant(b)))
      END
    WHEN sparql_is_day_time(a) AND sparql_is_day_time(b) THEN
      sparql_day_time_term(TRY(sparql_as_instant(a) - sparql_as_instant(b)))
    WHEN sparql_is_year_month(a) AND sparql_is_year_month(b) THEN
      sparql_year_month_term(TRY(sparql_as_instant(a) - sparql_as_instant(b)))
  END;
CREATE OR REPLACE TEMP MACRO sparql_minus(term) AS
  CASE
    WHEN left(term, 1) <> 'O' THEN
      sparql_unary(term, TRY(-sparql_as_integer(term)), TRY(-sparql_as_decimal(term)), -sparql_as_double(term))
    WHEN sparql_is_day_time(term) THEN sparql_day_time_term(TRY(-sparql_as_instant(term)))
    WHEN sparql_is_year_month(term) THEN sparql_year_month_term(TRY(-sparql_as_instant(term)))
  END;
