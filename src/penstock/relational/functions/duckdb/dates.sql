-- Dates and times. An instant is a HUGEINT: seconds since 1970, times 10^18, in UTC. A value without a time zone is
-- taken as UTC; comparisons take this into account. One regular expression reads a term, and its groups are used by
-- name: each statement would plan every further regular expression, and every repeated macro call, again.

CREATE OR REPLACE TEMP MACRO sparql_days(date) AS (date - DATE '1970-01-01')::HUGEINT * 86400 * sparql_one();

-- A dateTime, date or time: the day (NULL if it does not exist), the clock (24:00:00 is a whole day, if there is a
-- day), the zone, and its offset from UTC. NULL for any other term.
CREATE OR REPLACE TEMP MACRO sparql_moment_parts(term) AS
  regexp_extract(
    term,
    '^(?:t(-?(?:[1-9][0-9]{3,6}|0[0-9]{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))T|Ohttp://www\.w3\.org/2001/XMLSchema#'
    || '(?:time |date (-?(?:[1-9][0-9]{3,6}|0[0-9]{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))))'
    || '(?:((?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])(?:\.([0-9]{1,18})0*)?|(24:00:00)(?:\.0+)?)?'
    || '(Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?$',
    ['day', 'date', 'clock', 'fraction', 'midnight', 'zone']
  );
CREATE OR REPLACE TEMP MACRO sparql_clock(text) AS coalesce(epoch_us(TRY_CAST(text AS TIME)), 0)::HUGEINT * 1000000000000;
CREATE OR REPLACE TEMP MACRO sparql_moment(term) AS
  list_transform([sparql_moment_parts(term)], lambda sparql_p:
    CASE
      WHEN (sparql_p.date = '') = (sparql_p.clock <> '' OR sparql_p.midnight <> '')
      THEN
        {
          'day': TRY_CAST(CASE WHEN sparql_p.day || sparql_p.date = '' THEN '1970-01-01' ELSE sparql_p.day || sparql_p.date END AS DATE),
          'clock': sparql_clock(sparql_p.clock || CASE WHEN sparql_p.day = '' THEN '' ELSE sparql_p.midnight END) + rpad(sparql_p.fraction, 18, '0')::HUGEINT,
          'offset': sparql_clock(substr(sparql_p.zone, 2) || ':00') * CASE WHEN left(sparql_p.zone, 1) = '-' THEN -1 ELSE 1 END,
          'zone': CASE WHEN right(sparql_p.zone, 5) = '00:00' THEN 'Z' ELSE sparql_p.zone END
        }
    END
  )[1];
-- Most dateTimes are valid timestamps of the engine, with a time zone.
CREATE OR REPLACE TEMP MACRO sparql_is_ordinary(term) AS
  regexp_full_match(
    term,
    't[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])'
  );
CREATE OR REPLACE TEMP MACRO sparql_timestamp(term) AS TRY_CAST(substr(term, 2) AS TIMESTAMPTZ);

-- A duration: days and seconds in seconds times 10^18, years and months in months; NULL if its form does not fit its
-- type.
CREATE OR REPLACE TEMP MACRO sparql_duration_parts(term) AS
  regexp_extract(
    term,
    '^[^ ]* (-?P)(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)D)?'
    || '(?:(T)(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)(?:\.([0-9]{1,18})0*)?S)?)?$',
    ['sign', 'years', 'months', 'days', 't', 'hours', 'minutes', 'seconds', 'fraction']
  );
CREATE OR REPLACE TEMP MACRO sparql_count(digits) AS ('0' || digits)::HUGEINT;
CREATE OR REPLACE TEMP MACRO sparql_duration(term) AS
  list_transform([sparql_duration_parts(term)], lambda sparql_p:
    CASE sparql_p.sign WHEN 'P' THEN 1 WHEN '-P' THEN -1 END
    * CASE
      WHEN right(term, 1) IN ('P', 'T') THEN NULL
      WHEN sparql_is_year_month(term) THEN
        CASE
          WHEN sparql_p.days || sparql_p.t = '' THEN TRY(sparql_count(sparql_p.years) * 12 + sparql_count(sparql_p.months))
        END
      WHEN sparql_p.years || sparql_p.months = '' THEN
        TRY(
          (
            sparql_count(sparql_p.days) * 86400 + sparql_count(sparql_p.hours) * 3600 + sparql_count(sparql_p.minutes) * 60
            + sparql_count(sparql_p.seconds)
          ) * sparql_one() + rpad(sparql_p.fraction, 18, '0')::HUGEINT
        )
    END
  )[1];

-- The position of a term on the line of its own datatype (dateTime, date, time, the two durations); NULL for any other.
CREATE OR REPLACE TEMP MACRO sparql_as_instant(term) AS
  CASE
    WHEN sparql_is_ordinary(term) THEN epoch_us(sparql_timestamp(term))::HUGEINT * 1000000000000
    WHEN NOT contains('tO', left(term, 1)) THEN NULL
    WHEN sparql_is_day_time(term) OR sparql_is_year_month(term) THEN sparql_duration(term)
    ELSE list_transform([sparql_moment(term)], lambda sparql_m: sparql_local_instant(sparql_m) - sparql_m.offset)[1]
  END;
CREATE OR REPLACE TEMP MACRO sparql_has_zone(term) AS regexp_matches(term, '[0-9](Z|[+-][0-9]{2}:[0-9]{2})$');
-- The properties that a comparison needs: the line, whether there is a time zone, the position on the line.
CREATE OR REPLACE TEMP MACRO sparql_on_line(term) AS
  {'line': sparql_time_line(term), 'has_zone': sparql_has_zone(term), 'at': sparql_as_instant(term)};

-- Values as text. `seconds` are times 10^18.
CREATE OR REPLACE TEMP MACRO sparql_date_text(date) AS
  list_transform([date], lambda sparql_d:
    CASE WHEN year(sparql_d) < 0 THEN '-' ELSE '' END || lpad(abs(year(sparql_d))::VARCHAR, greatest(4, length(abs(year(sparql_d))::VARCHAR))::INTEGER, '0')
    || strftime(sparql_d, '-%m-%d')
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_fraction_text(seconds) AS
  rtrim(rtrim('.' || lpad(((seconds) % sparql_one())::VARCHAR, 18, '0'), '0'), '.');
CREATE OR REPLACE TEMP MACRO sparql_day_length() AS 86400000000000000000000::HUGEINT;
CREATE OR REPLACE TEMP MACRO sparql_floor_day(local) AS (local) // sparql_day_length() - ((local) % sparql_day_length() < 0)::INTEGER;
CREATE OR REPLACE TEMP MACRO sparql_local_text(local) AS
  list_transform([{'day': sparql_floor_day(local), 'local': local}], lambda sparql_l:
    sparql_date_text(TRY(DATE '1970-01-01' + sparql_l.day::INTEGER))
    || list_transform([sparql_l.local - sparql_l.day * sparql_day_length()], lambda sparql_c:
      strftime(make_timestamp((sparql_c // 1000000000000)::BIGINT), 'T%H:%M:%S') || sparql_fraction_text(sparql_c)
    )[1]
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_with_unit(number, unit) AS CASE WHEN number > 0 THEN number || unit ELSE '' END;
CREATE OR REPLACE TEMP MACRO sparql_day_time_term(seconds) AS
  list_transform([{'is_negative': seconds < 0, 'whole': (abs(seconds) // sparql_one())::BIGINT, 'rest': abs(seconds)}], lambda sparql_v:
    'Ohttp://www.w3.org/2001/XMLSchema#dayTimeDuration ' || CASE sparql_v.is_negative WHEN TRUE THEN '-P' WHEN FALSE THEN 'P' END
    || sparql_with_unit(sparql_v.whole // 86400, 'D')
    || CASE WHEN sparql_v.rest % sparql_day_length() <> 0 OR sparql_v.rest = 0 THEN 'T' ELSE '' END
    || sparql_with_unit(sparql_v.whole // 3600 % 24, 'H')
    || sparql_with_unit(sparql_v.whole // 60 % 60, 'M')
    || CASE
      WHEN sparql_v.rest % (60 * sparql_one()) <> 0 OR sparql_v.rest = 0
      THEN (sparql_v.whole % 60) || sparql_fraction_text(sparql_v.rest) || 'S'
      ELSE ''
    END
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_year_month_term(months) AS
  list_transform([{'is_negative': months < 0, 'months': abs(months)}], lambda sparql_m:
    'Ohttp://www.w3.org/2001/XMLSchema#yearMonthDuration ' || CASE sparql_m.is_negative WHEN TRUE THEN '-P' WHEN FALSE THEN 'P' END
    || sparql_with_unit(sparql_m.months // 12, 'Y')
    || CASE WHEN sparql_m.months % 12 > 0 OR sparql_m.months = 0 THEN (sparql_m.months % 12) || 'M' ELSE '' END
  )[1];

-- YEAR, MONTH, DAY, HOURS, MINUTES, SECONDS, TIMEZONE, TZ: of the local time. A date has no hours, a time no year.
-- 24:00:00 is the next day's midnight.
CREATE OR REPLACE TEMP MACRO sparql_local_date(term) AS
  CASE
    WHEN sparql_is_ordinary(term) THEN TRY_CAST(substr(term, 2, 10) AS DATE)
    WHEN sparql_has_days(term)
    THEN
      list_transform([sparql_moment(term)], lambda sparql_m:
        sparql_m.day + CASE WHEN sparql_m.clock >= sparql_day_length() THEN 1 ELSE 0 END
      )[1]
  END;
CREATE OR REPLACE TEMP MACRO sparql_local_clock(term) AS
  CASE
    WHEN sparql_has_hours(term)
    THEN
      list_transform([sparql_moment(term)], lambda sparql_m:
        CASE WHEN sparql_m.day IS NOT NULL THEN sparql_m.clock % sparql_day_length() END
      )[1]
  END;
CREATE OR REPLACE TEMP MACRO sparql_year(term) AS 'i' || year(sparql_local_date(term));
CREATE OR REPLACE TEMP MACRO sparql_month(term) AS 'i' || month(sparql_local_date(term));
CREATE OR REPLACE TEMP MACRO sparql_day(term) AS 'i' || day(sparql_local_date(term));
CREATE OR REPLACE TEMP MACRO sparql_hours(term) AS 'i' || sparql_local_clock(term) // (3600 * sparql_one());
CREATE OR REPLACE TEMP MACRO sparql_minutes(term) AS 'i' || sparql_local_clock(term) // (60 * sparql_one()) % 60;
CREATE OR REPLACE TEMP MACRO sparql_seconds(term) AS
  list_transform([sparql_local_clock(term)], lambda sparql_c:
    'd' || (sparql_c // sparql_one() % 60) || sparql_fraction_text(sparql_c)
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_timezone(term) AS
  list_transform([sparql_moment(term)], lambda sparql_m:
    CASE WHEN sparql_m.day IS NOT NULL AND sparql_m.zone <> '' THEN sparql_day_time_term(sparql_m.offset) END
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_tz(term) AS
  list_transform([sparql_moment(term)], lambda sparql_m: CASE WHEN sparql_m.day IS NOT NULL THEN 'S' || sparql_m.zone END)[1];

-- Sums and differences of times and durations. `direction` is 1 to add a duration, or -1 to subtract it.
CREATE OR REPLACE TEMP MACRO sparql_moved(term, local, zone) AS
  CASE
    WHEN left(term, 1) = 't' THEN 't' || sparql_local_text(local) || zone
    ELSE 'Ohttp://www.w3.org/2001/XMLSchema#date ' || sparql_date_text(TRY(DATE '1970-01-01' + sparql_floor_day(local)::INTEGER)) || zone
  END;
CREATE OR REPLACE TEMP MACRO sparql_time_sum(a, b, direction) AS
  CASE
    WHEN NOT contains('tO', left(a, 1)) OR NOT contains('tO', left(b, 1)) THEN NULL
    WHEN sparql_has_days(a) AND (sparql_is_day_time(b) OR sparql_is_year_month(b)) THEN
      list_transform([{'moment': sparql_moment(a), 'duration': sparql_duration(b) * direction}], lambda sparql_s:
        sparql_moved(
          a,
          CASE
            WHEN sparql_is_day_time(b) THEN TRY(sparql_local_instant(sparql_s.moment) + sparql_s.duration)
            ELSE TRY(sparql_days((sparql_s.moment.day + to_months(sparql_s.duration::INTEGER))::DATE) + sparql_s.moment.clock)
          END,
          sparql_s.moment.zone
        )
      )[1]
    WHEN NOT starts_with(b, CASE WHEN left(a, 1) = 't' THEN 't' ELSE left(a, instr(a, ' ')) END) THEN NULL
    ELSE
      list_transform([list_transform([a, b], lambda sparql_x: sparql_on_line(sparql_x))], lambda sparql_k:
        CASE
          WHEN sparql_is_year_month(a) THEN sparql_year_month_term(TRY(sparql_k[1].at + sparql_k[2].at * direction))
          WHEN sparql_is_day_time(a) OR (direction = -1 AND sparql_k[1].has_zone = sparql_k[2].has_zone)
          THEN sparql_day_time_term(TRY(sparql_k[1].at + sparql_k[2].at * direction))
        END
      )[1]
  END;

-- The evaluation instant of NOW(), given in milliseconds since 1970: in UTC, with a fraction of a second only if it is
-- not zero.
CREATE OR REPLACE TEMP MACRO sparql_instant_term(time) AS
  't' || strftime(make_timestamp_ms(time), '%Y-%m-%dT%H:%M:%S')
  || rtrim(rtrim('.' || lpad((((time % 1000) + 1000) % 1000)::VARCHAR, 3, '0'), '0'), '.') || 'Z';
