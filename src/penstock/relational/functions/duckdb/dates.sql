-- Dates and times. An instant is a HUGEINT too: seconds since 1970, scaled by 10^18, in UTC; a value without a time
-- zone is taken as UTC and compared with care (XSD 1.1 part 2, E.3.3).

CREATE OR REPLACE TEMP MACRO sparql_is_date(term) AS starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#date ');
CREATE OR REPLACE TEMP MACRO sparql_is_time(term) AS starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#time ');
CREATE OR REPLACE TEMP MACRO sparql_is_day_time(term) AS
  starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#dayTimeDuration ');
CREATE OR REPLACE TEMP MACRO sparql_is_year_month(term) AS
  starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#yearMonthDuration ');

-- A dateTime, a date or a time written as a dateTime: a date at midnight, a time on the first day of 1970.
CREATE OR REPLACE TEMP MACRO sparql_date_time_form(term) AS
  CASE
    WHEN left(term, 1) = 't' THEN substr(term, 2)
    WHEN left(term, 1) <> 'O' THEN NULL
    WHEN sparql_is_date(term) THEN regexp_replace(substr(term, 40), '^(-?[0-9]+-[0-9]+-[0-9]+)', '\1T00:00:00')
    WHEN sparql_is_time(term) THEN '1970-01-01T' || regexp_replace(substr(term, 40), '^24:00:00', '00:00:00')
  END;

-- Days since 1970, NULL where there is no such day. The calendar repeats every 400 years (146,097 days): any year is one of
-- 2000 to 2399, moved.
CREATE OR REPLACE TEMP MACRO sparql_days(year, month_and_day) AS
  (TRY_CAST((2000 + (year % 400 + 400) % 400)::VARCHAR || month_and_day AS DATE) - DATE '1970-01-01')
  + (year - 2000 - (year % 400 + 400) % 400) // 400 * 146097;

-- What it says: days since 1970, seconds of the day (scaled; 24:00:00 is 86400), the zone ('' if none). NULL if it is ill-formed.
CREATE OR REPLACE TEMP MACRO sparql_fields(term) AS
  list_transform(
    [
      regexp_extract(
        sparql_date_time_form(term),
        '^(-?(?:[1-9][0-9]{3,8}|0[0-9]{3}))-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
        || 'T([01][0-9]|2[0-4]):([0-5][0-9]):([0-5][0-9])(\.[0-9]{1,18}0*)?'
        || '(Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?$',
        ['year', 'month', 'day', 'hour', 'minute', 'second', 'fraction', 'zone']
      )
    ],
    lambda sparql_t:
      CASE
        WHEN sparql_t.year <> '' AND (sparql_t.hour < '24' OR (sparql_t.minute = '00' AND sparql_t.second = '00' AND rtrim(sparql_t.fraction, '0') IN ('', '.')))
        THEN
          {
            'days': sparql_days(sparql_t.year::BIGINT, '-' || sparql_t.month || '-' || sparql_t.day),
            'seconds':
              (sparql_t.hour::BIGINT * 3600 + sparql_t.minute::BIGINT * 60 + sparql_t.second::BIGINT) * sparql_one()
              + rpad(substr(sparql_t.fraction, 2), 18, '0')::HUGEINT,
            'zone': CASE WHEN substr(sparql_t.zone, 2) = '00:00' THEN 'Z' ELSE sparql_t.zone END
          }
      END
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_local_of(fields) AS fields.days * 86400 * sparql_one() + fields.seconds;
CREATE OR REPLACE TEMP MACRO sparql_zone_seconds(zone) AS
  CASE
    WHEN zone IN ('', 'Z') THEN 0::BIGINT
    ELSE
      (substr(zone, 2, 2)::BIGINT * 3600 + substr(zone, 5, 2)::BIGINT * 60) * CASE left(zone, 1) WHEN '-' THEN -1 ELSE 1 END
  END;
CREATE OR REPLACE TEMP MACRO sparql_instant_of(fields) AS
  sparql_local_of(fields) - sparql_zone_seconds(fields.zone) * sparql_one();

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

-- Where a term lies on the line of its own datatype (dateTime, date, time, the two durations), and whether it has a time
-- zone; NULL for any other.
CREATE OR REPLACE TEMP MACRO sparql_instant(term) AS
  CASE
    WHEN left(term, 1) = 't' OR sparql_is_date(term) OR sparql_is_time(term) THEN
      list_transform([sparql_fields(term)], lambda sparql_f:
        {'at': sparql_instant_of(sparql_f), 'has_zone': sparql_f.zone <> ''}
      )[1]
    WHEN sparql_is_day_time(term) THEN {'at': sparql_duration_seconds(sparql_lexical(term)), 'has_zone': FALSE}
    WHEN sparql_is_year_month(term) THEN {'at': sparql_duration_months(sparql_lexical(term)), 'has_zone': FALSE}
  END;
CREATE OR REPLACE TEMP MACRO sparql_as_instant(term) AS sparql_instant(term).at;

-- Values as text.
CREATE OR REPLACE TEMP MACRO sparql_year_text(year) AS
  CASE WHEN year < 0 THEN '-' ELSE '' END || CASE WHEN abs(year) < 10000 THEN lpad(abs(year)::VARCHAR, 4, '0') ELSE abs(year)::VARCHAR END;
CREATE OR REPLACE TEMP MACRO sparql_date_text(days) AS
  list_transform([{'cycle': (days - (days % 146097 + 146097) % 146097) // 146097, 'day': (days % 146097 + 146097) % 146097}],
    lambda sparql_c:
      list_transform([DATE '1970-01-01' + sparql_c.day::INTEGER], lambda sparql_day:
        sparql_year_text(year(sparql_day) + sparql_c.cycle * 400) || strftime(sparql_day, '-%m-%d')
      )[1]
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_time_text(scaled_seconds) AS
  list_transform([{'s': scaled_seconds // sparql_one(), 'f': scaled_seconds % sparql_one()}], lambda sparql_w:
    lpad((sparql_w.s // 3600)::VARCHAR, 2, '0') || ':' || lpad((sparql_w.s // 60 % 60)::VARCHAR, 2, '0') || ':'
    || lpad((sparql_w.s % 60)::VARCHAR, 2, '0')
    || CASE WHEN sparql_w.f = 0 THEN '' ELSE rtrim('.' || lpad(sparql_w.f::VARCHAR, 18, '0'), '0') END
  )[1];
-- A dateTime from a local instant and a zone.
CREATE OR REPLACE TEMP MACRO sparql_date_time_text(local, zone) AS
  list_transform([local], lambda sparql_l:
    list_transform([(sparql_l % (86400 * sparql_one()) + 86400 * sparql_one()) % (86400 * sparql_one())], lambda sparql_s:
      sparql_date_text(((sparql_l - sparql_s) // (86400 * sparql_one()))::BIGINT) || 'T' || sparql_time_text(sparql_s) || zone
    )[1]
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_day_time_term(scaled_seconds) AS
  list_transform([scaled_seconds], lambda sparql_v:
    list_transform([{'s': abs(sparql_v // sparql_one()), 'f': abs(sparql_v % sparql_one())}], lambda sparql_w:
      'Ohttp://www.w3.org/2001/XMLSchema#dayTimeDuration ' || CASE WHEN sparql_v < 0 THEN '-P' WHEN sparql_v >= 0 THEN 'P' END
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
    'Ohttp://www.w3.org/2001/XMLSchema#yearMonthDuration ' || CASE WHEN sparql_m < 0 THEN '-P' WHEN sparql_m >= 0 THEN 'P' END
    || CASE WHEN abs(sparql_m) >= 12 THEN (abs(sparql_m) // 12) || 'Y' ELSE '' END
    || CASE WHEN abs(sparql_m) % 12 > 0 OR sparql_m = 0 THEN (abs(sparql_m) % 12) || 'M' ELSE '' END
  )[1];

-- YEAR, MONTH, DAY, HOURS, MINUTES, SECONDS, TIMEZONE, TZ: of the local time. A date has no hours, a time no year.
CREATE OR REPLACE TEMP MACRO sparql_has_days(term) AS left(term, 1) = 't' OR sparql_is_date(term);
CREATE OR REPLACE TEMP MACRO sparql_has_hours(term) AS left(term, 1) = 't' OR sparql_is_time(term);
CREATE OR REPLACE TEMP MACRO sparql_local_date_text(term) AS
  CASE
    WHEN sparql_has_days(term) THEN
      list_transform([sparql_fields(term)], lambda sparql_f:
        sparql_date_text(sparql_f.days + (sparql_f.seconds = 86400 * sparql_one())::INTEGER)
      )[1]
  END;
CREATE OR REPLACE TEMP MACRO sparql_local_seconds(term) AS
  CASE
    WHEN sparql_has_hours(term) THEN
      list_transform([sparql_fields(term)], lambda sparql_f:
        CASE WHEN sparql_f.days IS NOT NULL THEN sparql_f.seconds % (86400 * sparql_one()) END
      )[1]
  END;
CREATE OR REPLACE TEMP MACRO sparql_zone_of(term) AS
  list_transform([sparql_fields(term)], lambda sparql_f: CASE WHEN sparql_f.days IS NOT NULL THEN sparql_f.zone END)[1];
CREATE OR REPLACE TEMP MACRO sparql_year(term) AS 'i' || left(sparql_local_date_text(term), -6)::BIGINT;
CREATE OR REPLACE TEMP MACRO sparql_month(term) AS 'i' || left(right(sparql_local_date_text(term), 5), 2)::BIGINT;
CREATE OR REPLACE TEMP MACRO sparql_day(term) AS 'i' || right(sparql_local_date_text(term), 2)::BIGINT;
CREATE OR REPLACE TEMP MACRO sparql_hours(term) AS 'i' || sparql_local_seconds(term) // (3600 * sparql_one());
CREATE OR REPLACE TEMP MACRO sparql_minutes(term) AS 'i' || sparql_local_seconds(term) // (60 * sparql_one()) % 60;
CREATE OR REPLACE TEMP MACRO sparql_seconds(term) AS sparql_decimal_term(sparql_local_seconds(term) % (60 * sparql_one()));
CREATE OR REPLACE TEMP MACRO sparql_timezone(term) AS
  sparql_day_time_term(sparql_zone_seconds(nullif(sparql_zone_of(term), '')) * sparql_one());
CREATE OR REPLACE TEMP MACRO sparql_tz(term) AS 'S' || sparql_zone_of(term);

-- Sums and differences, of numbers and of times.
CREATE OR REPLACE TEMP MACRO sparql_months_later(days, months) AS
  list_transform([{'day': (days % 146097 + 146097) % 146097, 'months': months}], lambda sparql_c:
    days - sparql_c.day + sparql_c.months // 4800 * 146097
    + ((DATE '1970-01-01' + sparql_c.day::INTEGER + to_months((sparql_c.months % 4800)::INTEGER))::DATE - DATE '1970-01-01')
  )[1];
-- A dateTime or a date, so many months and scaled seconds later.
CREATE OR REPLACE TEMP MACRO sparql_moved(term, months, scaled_seconds) AS
  list_transform([sparql_fields(term)], lambda sparql_f:
    list_transform([TRY(sparql_months_later(sparql_f.days, months) * 86400 * sparql_one() + sparql_f.seconds + scaled_seconds)],
      lambda sparql_at:
        CASE
          WHEN left(term, 1) = 't' THEN 't' || sparql_date_time_text(sparql_at, sparql_f.zone)
          ELSE
            'Ohttp://www.w3.org/2001/XMLSchema#date '
            || split_part(sparql_date_time_text(sparql_at, ''), 'T', 1) || sparql_f.zone
        END
    )[1]
  )[1];
-- `direction` is 1 or -1: a duration is added, or taken away.
CREATE OR REPLACE TEMP MACRO sparql_time_sum(a, b, direction) AS
  CASE
    WHEN sparql_has_days(a) AND sparql_is_day_time(b) THEN sparql_moved(a, 0, sparql_duration_seconds(sparql_lexical(b)) * direction)
    WHEN sparql_has_days(a) AND sparql_is_year_month(b) THEN sparql_moved(a, sparql_duration_months(sparql_lexical(b)) * direction, 0)
    WHEN sparql_is_day_time(a) AND sparql_is_day_time(b) THEN
      sparql_day_time_term(TRY(sparql_duration_seconds(sparql_lexical(a)) + sparql_duration_seconds(sparql_lexical(b)) * direction))
    WHEN sparql_is_year_month(a) AND sparql_is_year_month(b) THEN
      sparql_year_month_term(TRY(sparql_duration_months(sparql_lexical(a)) + sparql_duration_months(sparql_lexical(b)) * direction))
  END;
CREATE OR REPLACE TEMP MACRO sparql_time_difference(a, b) AS
  list_transform([{'a': sparql_instant(a), 'b': sparql_instant(b)}], lambda sparql_i:
    CASE WHEN sparql_i.a.has_zone = sparql_i.b.has_zone THEN sparql_day_time_term(TRY(sparql_i.a.at - sparql_i.b.at)) END
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_add(a, b) AS
  CASE
    WHEN left(a, 1) NOT IN ('t', 'O') THEN sparql_number_sum(a, b)
    ELSE sparql_time_sum(a, b, 1)
  END;
CREATE OR REPLACE TEMP MACRO sparql_subtract(a, b) AS
  CASE
    WHEN left(a, 1) NOT IN ('t', 'O') THEN sparql_number_difference(a, b)
    WHEN (left(a, 1) = 't' AND left(b, 1) = 't') OR (sparql_is_date(a) AND sparql_is_date(b)) OR (sparql_is_time(a) AND sparql_is_time(b))
    THEN sparql_time_difference(a, b)
    ELSE sparql_time_sum(a, b, -1)
  END;
CREATE OR REPLACE TEMP MACRO sparql_minus(term) AS
  CASE
    WHEN left(term, 1) <> 'O' THEN sparql_negated(term)
    WHEN sparql_is_day_time(term) THEN sparql_day_time_term(-sparql_duration_seconds(sparql_lexical(term)))
    WHEN sparql_is_year_month(term) THEN sparql_year_month_term(-sparql_duration_months(sparql_lexical(term)))
  END;
