-- Dates and times. An instant is a HUGEINT: seconds since 1970, times 10^18, in UTC; a value without a time zone is taken as UTC, and
-- compared with care.

CREATE OR REPLACE TEMP MACRO sparql_is_date(term) AS starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#date ');
CREATE OR REPLACE TEMP MACRO sparql_is_time(term) AS starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#time ');
CREATE OR REPLACE TEMP MACRO sparql_is_day_time(term) AS
  starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#dayTimeDuration ');
CREATE OR REPLACE TEMP MACRO sparql_is_year_month(term) AS
  starts_with(term, 'Ohttp://www.w3.org/2001/XMLSchema#yearMonthDuration ');
CREATE OR REPLACE TEMP MACRO sparql_has_days(term) AS left(term, 1) = 't' OR sparql_is_date(term);
CREATE OR REPLACE TEMP MACRO sparql_has_hours(term) AS left(term, 1) = 't' OR sparql_is_time(term);

-- The lexical forms of dateTime, date and time, tag and all; the numbers in them need no further check but for the day of the month.
CREATE OR REPLACE TEMP MACRO sparql_is_moment_form(term) AS
  regexp_full_match(
    term,
    '(t-?([1-9][0-9]{3,6}|0[0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T|Ohttp://www\.w3\.org/2001/XMLSchema#time )'
    || '(([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,18}0*)?|24:00:00(\.0+)?)(Z|[+-]((0[0-9]|1[0-3]):[0-5][0-9]|14:00))?'
    || '|Ohttp://www\.w3\.org/2001/XMLSchema#date -?([1-9][0-9]{3,6}|0[0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
    || '(Z|[+-]((0[0-9]|1[0-3]):[0-5][0-9]|14:00))?'
  );
-- The parts of well-formed ones: the day, NULL if there is no such day; the seconds of the day (24:00:00 is 86400); the zone.
CREATE OR REPLACE TEMP MACRO sparql_date_of(term) AS
  TRY(
    make_date(
      regexp_extract(term, '(?:^t| )(-?[0-9]+)-', 1)::BIGINT,
      regexp_extract(term, '[0-9]-([0-9]{2})-', 1)::BIGINT,
      regexp_extract(term, '-[0-9]{2}-([0-9]{2})', 1)::BIGINT
    )
  );
CREATE OR REPLACE TEMP MACRO sparql_clock_of(term) AS
  (
    regexp_extract(term, '[T ]([0-9]{2}):', 1)::BIGINT * 3600 + regexp_extract(term, '[T ][0-9]{2}:([0-9]{2})', 1)::BIGINT * 60
    + regexp_extract(term, ':[0-9]{2}:([0-9]{2})', 1)::BIGINT
  ) * sparql_one() + rpad(regexp_extract(term, '\.([0-9]+)(?:Z|[+-][0-9:]+)?$', 1), 18, '0')::HUGEINT;
CREATE OR REPLACE TEMP MACRO sparql_has_zone(term) AS regexp_matches(term, '[0-9](Z|[+-][0-9]{2}:[0-9]{2})$');
CREATE OR REPLACE TEMP MACRO sparql_zone_of(term) AS
  CASE
    WHEN right(term, 5) = '00:00' AND regexp_matches(term, '[0-9][+-]00:00$') THEN 'Z'
    ELSE regexp_extract(term, '[0-9](Z|[+-][0-9]{2}:[0-9]{2})$', 1)
  END;
CREATE OR REPLACE TEMP MACRO sparql_zone_seconds(term) AS
  CASE
    WHEN regexp_matches(term, '[0-9][+-][0-9]{2}:[0-9]{2}$')
    THEN
      (left(right(term, 5), 2)::BIGINT * 3600 + right(term, 2)::BIGINT * 60) * CASE WHEN left(right(term, 6), 1) = '-' THEN -1 ELSE 1 END
    ELSE 0
  END;
CREATE OR REPLACE TEMP MACRO sparql_days(date) AS (date - DATE '1970-01-01')::HUGEINT * 86400 * sparql_one();
CREATE OR REPLACE TEMP MACRO sparql_local_instant(term) AS
  CASE
    WHEN left(term, 1) = 't' THEN sparql_days(sparql_date_of(term)) + sparql_clock_of(term)
    WHEN sparql_is_date(term) THEN sparql_days(sparql_date_of(term))
    ELSE sparql_clock_of(term) % (86400 * sparql_one())
  END;

-- Durations: those of days and seconds in seconds times 10^18, those of years and months in months.
CREATE OR REPLACE TEMP MACRO sparql_duration_part(text, letter) AS
  coalesce(TRY_CAST(regexp_extract(text, '([0-9]+)' || letter, 1) AS HUGEINT), 0);
CREATE OR REPLACE TEMP MACRO sparql_duration_seconds(term) AS
  CASE
    WHEN regexp_full_match(term, '[^ ]* -?P([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]{1,18}0*)?S)?)?')
      AND right(term, 1) NOT IN ('P', 'T')
    THEN
      TRY(
        (
          (sparql_duration_part(term, 'D') * 86400 + sparql_duration_part(term, 'H') * 3600 + sparql_duration_part(term, 'M') * 60)
          * sparql_one()
          + sparql_duration_part(term, '(?:\.[0-9]+)?S') * sparql_one() + rpad(regexp_extract(term, '\.([0-9]+)S', 1), 18, '0')::HUGEINT
        ) * CASE WHEN contains(term, ' -P') THEN -1 ELSE 1 END
      )
  END;
CREATE OR REPLACE TEMP MACRO sparql_duration_months(term) AS
  CASE
    WHEN regexp_full_match(term, '[^ ]* -?P([0-9]+Y)?([0-9]+M)?') AND right(term, 1) <> 'P'
    THEN
      TRY(
        (sparql_duration_part(term, 'Y') * 12 + sparql_duration_part(term, 'M')) * CASE WHEN contains(term, ' -P') THEN -1 ELSE 1 END
      )
  END;

-- Where a term lies on the line of its own datatype (dateTime, date, time, the two durations); NULL for any other.
CREATE OR REPLACE TEMP MACRO sparql_as_instant(term) AS
  CASE
    WHEN left(term, 1) NOT IN ('t', 'O') THEN NULL
    WHEN sparql_is_moment_form(term) THEN sparql_local_instant(term) - sparql_zone_seconds(term) * sparql_one()
    WHEN sparql_is_day_time(term) THEN sparql_duration_seconds(term)
    WHEN sparql_is_year_month(term) THEN sparql_duration_months(term)
  END;

-- Values as text.
CREATE OR REPLACE TEMP MACRO sparql_date_text(date) AS
  list_transform([date], lambda sparql_d:
    CASE WHEN year(sparql_d) < 0 THEN '-' ELSE '' END || lpad(abs(year(sparql_d))::VARCHAR, greatest(4, length(abs(year(sparql_d))::VARCHAR))::INTEGER, '0')
    || strftime(sparql_d, '-%m-%d')
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_clock_text(clock) AS
  lpad(((clock) // (3600 * sparql_one()))::VARCHAR, 2, '0') || ':' || lpad(((clock) // (60 * sparql_one()) % 60)::VARCHAR, 2, '0') || ':'
  || lpad(((clock) // sparql_one() % 60)::VARCHAR, 2, '0')
  || rtrim(rtrim('.' || lpad(((clock) % sparql_one())::VARCHAR, 18, '0'), '0'), '.');
CREATE OR REPLACE TEMP MACRO sparql_floor_day(local) AS
  ((local) - (((local) % (86400 * sparql_one())) + 86400 * sparql_one()) % (86400 * sparql_one())) // (86400 * sparql_one());
CREATE OR REPLACE TEMP MACRO sparql_date_at(local) AS TRY(DATE '1970-01-01' + sparql_floor_day(local)::INTEGER);
CREATE OR REPLACE TEMP MACRO sparql_local_text(local) AS
  list_transform([local], lambda sparql_l:
    sparql_date_text(sparql_date_at(sparql_l)) || 'T'
    || sparql_clock_text((sparql_l % (86400 * sparql_one()) + 86400 * sparql_one()) % (86400 * sparql_one()))
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_day_time_term(seconds) AS
  list_transform([seconds], lambda sparql_v:
    'Ohttp://www.w3.org/2001/XMLSchema#dayTimeDuration ' || CASE WHEN sparql_v < 0 THEN '-P' WHEN sparql_v >= 0 THEN 'P' END
    || CASE WHEN abs(sparql_v) >= 86400 * sparql_one() THEN (abs(sparql_v) // (86400 * sparql_one())) || 'D' ELSE '' END
    || CASE WHEN sparql_v % (86400 * sparql_one()) <> 0 OR sparql_v = 0 THEN 'T' ELSE '' END
    || CASE
      WHEN abs(sparql_v) // (3600 * sparql_one()) % 24 > 0 THEN (abs(sparql_v) // (3600 * sparql_one()) % 24) || 'H' ELSE ''
    END
    || CASE WHEN abs(sparql_v) // (60 * sparql_one()) % 60 > 0 THEN (abs(sparql_v) // (60 * sparql_one()) % 60) || 'M' ELSE '' END
    || CASE
      WHEN sparql_v % (60 * sparql_one()) <> 0 OR sparql_v = 0
      THEN sparql_decimal_text(sparql_unscaled(abs(sparql_v) % (60 * sparql_one()))) || 'S'
      ELSE ''
    END
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_year_month_term(months) AS
  list_transform([months], lambda sparql_m:
    'Ohttp://www.w3.org/2001/XMLSchema#yearMonthDuration ' || CASE WHEN sparql_m < 0 THEN '-P' WHEN sparql_m >= 0 THEN 'P' END
    || CASE WHEN abs(sparql_m) >= 12 THEN (abs(sparql_m) // 12) || 'Y' ELSE '' END
    || CASE WHEN abs(sparql_m) % 12 > 0 OR sparql_m = 0 THEN (abs(sparql_m) % 12) || 'M' ELSE '' END
  )[1];

-- YEAR, MONTH, DAY, HOURS, MINUTES, SECONDS, TIMEZONE, TZ: of the local time. A date has no hours, a time no year; 24:00:00 is
-- the next day's midnight.
CREATE OR REPLACE TEMP MACRO sparql_local_date(term) AS
  CASE
    WHEN sparql_has_days(term) AND sparql_is_moment_form(term)
    THEN sparql_date_of(term) + CASE WHEN contains(term, 'T24:') THEN 1 ELSE 0 END
  END;
CREATE OR REPLACE TEMP MACRO sparql_local_clock(term) AS
  CASE
    WHEN sparql_has_hours(term) AND sparql_is_moment_form(term) AND (left(term, 1) = 'O' OR sparql_date_of(term) IS NOT NULL)
    THEN sparql_clock_of(term) % (86400 * sparql_one())
  END;
CREATE OR REPLACE TEMP MACRO sparql_year(term) AS 'i' || year(sparql_local_date(term));
CREATE OR REPLACE TEMP MACRO sparql_month(term) AS 'i' || month(sparql_local_date(term));
CREATE OR REPLACE TEMP MACRO sparql_day(term) AS 'i' || day(sparql_local_date(term));
CREATE OR REPLACE TEMP MACRO sparql_hours(term) AS 'i' || sparql_local_clock(term) // (3600 * sparql_one());
CREATE OR REPLACE TEMP MACRO sparql_minutes(term) AS 'i' || sparql_local_clock(term) // (60 * sparql_one()) % 60;
CREATE OR REPLACE TEMP MACRO sparql_seconds(term) AS
  sparql_decimal_term(sparql_unscaled((sparql_local_clock(term) % (60 * sparql_one()))));
CREATE OR REPLACE TEMP MACRO sparql_timezone(term) AS
  CASE
    WHEN sparql_is_moment_form(term) AND sparql_has_zone(term) AND sparql_as_instant(term) IS NOT NULL
    THEN sparql_day_time_term(sparql_zone_seconds(term) * sparql_one())
  END;
CREATE OR REPLACE TEMP MACRO sparql_tz(term) AS
  CASE WHEN sparql_is_moment_form(term) AND sparql_as_instant(term) IS NOT NULL THEN 'S' || sparql_zone_of(term) END;

-- Sums and differences of times and durations. `direction` is 1 or -1: a duration is added, or taken away.
CREATE OR REPLACE TEMP MACRO sparql_moved(term, local) AS
  CASE
    WHEN left(term, 1) = 't' THEN 't' || sparql_local_text(local) || sparql_zone_of(term)
    ELSE 'Ohttp://www.w3.org/2001/XMLSchema#date ' || split_part(sparql_local_text(local), 'T', 1) || sparql_zone_of(term)
  END;
CREATE OR REPLACE TEMP MACRO sparql_time_sum(a, b, direction) AS
  CASE
    WHEN sparql_has_days(a) AND (sparql_is_day_time(b) OR sparql_is_year_month(b)) THEN
      CASE
        WHEN sparql_is_moment_form(a) THEN
          sparql_moved(
            a,
            CASE
              WHEN sparql_is_day_time(b) THEN TRY(sparql_local_instant(a) + sparql_duration_seconds(b) * direction)
              ELSE
                TRY(
                  sparql_days((sparql_date_of(a) + to_months((sparql_duration_months(b) * direction)::INTEGER))::DATE)
                  + CASE WHEN left(a, 1) = 't' THEN sparql_clock_of(a) ELSE 0 END
                )
            END
          )
      END
    WHEN sparql_is_day_time(a) AND sparql_is_day_time(b) THEN
      sparql_day_time_term(TRY(sparql_duration_seconds(a) + sparql_duration_seconds(b) * direction))
    WHEN sparql_is_year_month(a) AND sparql_is_year_month(b) THEN
      sparql_year_month_term(TRY(sparql_duration_months(a) + sparql_duration_months(b) * direction))
  END;
CREATE OR REPLACE TEMP MACRO sparql_time_difference(a, b) AS
  CASE
    WHEN (left(a, 1) = 't' AND left(b, 1) = 't') OR (sparql_is_date(a) AND sparql_is_date(b)) OR (sparql_is_time(a) AND sparql_is_time(b))
    THEN
      CASE
        WHEN sparql_has_zone(a) = sparql_has_zone(b)
        THEN sparql_day_time_term(TRY(sparql_as_instant(a) - sparql_as_instant(b)))
      END
    ELSE sparql_time_sum(a, b, -1)
  END;
CREATE OR REPLACE TEMP MACRO sparql_time_negated(term) AS
  CASE
    WHEN sparql_is_day_time(term) THEN sparql_day_time_term(-sparql_duration_seconds(term))
    WHEN sparql_is_year_month(term) THEN sparql_year_month_term(-sparql_duration_months(term))
  END;

-- An evaluation instant, milliseconds since 1970, as NOW() gives it: in UTC, with a fraction of a second only where there is one.
CREATE OR REPLACE TEMP MACRO sparql_instant_term(time) AS
  't' || strftime(make_timestamp_ms(time), '%Y-%m-%dT%H:%M:%S')
  || rtrim(rtrim('.' || lpad((((time % 1000) + 1000) % 1000)::VARCHAR, 3, '0'), '0'), '.') || 'Z';
