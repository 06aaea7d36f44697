-- Dates and times. An instant is a DECIMAL(38, 0): seconds since 1970, times 10^18, in UTC. A value without a time zone
-- is taken as UTC; comparisons take this into account. One regular expression reads a term, and its groups are used by
-- name.

CREATE OR REPLACE TEMP MACRO sparql_days(date) AS CAST(unix_date(date) AS DECIMAL(38, 0)) * 86400 * sparql_one();

-- A dateTime, date or time: the day (NULL if it does not exist), the clock (24:00:00 is a whole day, if there is a
-- day), the zone, and its offset from UTC. NULL for any other term. The groups of the regular expression are joined
-- with bars.
CREATE OR REPLACE TEMP MACRO sparql_moment_parts(term) AS
  transform(
    array(
      split(
        regexp_replace(
          term,
          concat(
            '^(?:t(-?(?:[1-9][0-9]{3,6}|0[0-9]{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))T|Ohttp://www\\.w3\\.org/2001/XMLSchema#',
            '(?:time |date (-?(?:[1-9][0-9]{3,6}|0[0-9]{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]))))',
            '(?:((?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])(?:\\.([0-9]{1,18})0*)?|(24:00:00)(?:\\.0+)?)?',
            '(Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?\\z'
          ),
          '=|$1|$2|$3|$4|$5|$6'
        ),
        '\\|'
      )
    ),
    a -> CASE
      WHEN get(a, 0) = '=' THEN
        named_struct(
          'day', get(a, 1), 'date', get(a, 2), 'clock', get(a, 3), 'fraction', get(a, 4), 'midnight', get(a, 5), 'zone', get(a, 6)
        )
    END
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_two_digits(text, place) AS coalesce(TRY_CAST(substr(text, place, 2) AS INT), 0);
CREATE OR REPLACE TEMP MACRO sparql_clock(text) AS
  CAST(sparql_two_digits(text, 1) * 3600 + sparql_two_digits(text, 4) * 60 + sparql_two_digits(text, 7) AS DECIMAL(38, 0))
  * sparql_one();
CREATE OR REPLACE TEMP MACRO sparql_moment(term) AS
  transform(array(sparql_moment_parts(term)), p ->
    CASE
      WHEN (p.date = '') = (p.clock <> '' OR p.midnight <> '')
      THEN
        named_struct(
          'day', TRY_CAST(CASE WHEN p.day = '' AND p.date = '' THEN '1970-01-01' ELSE concat(p.day, p.date) END AS DATE),
          'clock',
            sparql_clock(concat(p.clock, CASE WHEN p.day = '' THEN '' ELSE p.midnight END))
            + CAST(rpad(p.fraction, 18, '0') AS DECIMAL(18, 0)),
          'offset', sparql_clock(concat(substr(p.zone, 2), ':00')) * CASE WHEN left(p.zone, 1) = '-' THEN -1 ELSE 1 END,
          'zone', CASE WHEN right(p.zone, 5) = '00:00' THEN 'Z' ELSE p.zone END
        )
    END
  )[0];
-- Most dateTimes are valid timestamps of the engine, with a time zone.
CREATE OR REPLACE TEMP MACRO sparql_is_ordinary(term) AS
  term RLIKE '^t[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,6})?(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])\\z';
CREATE OR REPLACE TEMP MACRO sparql_timestamp(term) AS TRY_CAST(substr(term, 2) AS TIMESTAMP);

-- A duration: days and seconds in seconds times 10^18, years and months in months; NULL if its form does not fit its
-- type.
CREATE OR REPLACE TEMP MACRO sparql_duration_parts(term) AS
  transform(
    array(
      split(
        regexp_replace(
          term,
          concat(
            '^[^ ]* (-?P)(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)D)?',
            '(?:(T)(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)(?:\\.([0-9]{1,18})0*)?S)?)?\\z'
          ),
          '=|$1|$2|$3|$4|$5|$6|$7|$8|$9'
        ),
        '\\|'
      )
    ),
    a -> CASE
      WHEN get(a, 0) = '=' THEN
        named_struct(
          'sign', get(a, 1), 'years', get(a, 2), 'months', get(a, 3), 'days', get(a, 4), 't', get(a, 5), 'hours', get(a, 6),
          'minutes', get(a, 7), 'seconds', get(a, 8), 'fraction', get(a, 9)
        )
    END
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_count(digits) AS TRY_CAST(concat('0', digits) AS DECIMAL(38, 0));
CREATE OR REPLACE TEMP MACRO sparql_duration(term) AS
  transform(array(sparql_duration_parts(term)), p ->
    CASE p.sign WHEN 'P' THEN 1 WHEN '-P' THEN -1 END
    * CASE
      WHEN right(term, 1) IN ('P', 'T') THEN NULL
      WHEN sparql_is_year_month(term) THEN
        CASE
          WHEN p.days = '' AND p.t = '' THEN try_add(try_multiply(sparql_count(p.years), 12BD), sparql_count(p.months))
        END
      WHEN p.years = '' AND p.months = '' THEN
        try_add(
          try_multiply(
            try_add(
              try_add(try_multiply(sparql_count(p.days), 86400BD), try_multiply(sparql_count(p.hours), 3600BD)),
              try_add(try_multiply(sparql_count(p.minutes), 60BD), sparql_count(p.seconds))
            ),
            sparql_one()
          ),
          CAST(rpad(p.fraction, 18, '0') AS DECIMAL(18, 0))
        )
    END
  )[0];

-- The position of a term on the line of its own datatype (dateTime, date, time, the two durations); NULL for any other.
CREATE OR REPLACE TEMP MACRO sparql_as_instant(term) AS
  CASE
    WHEN sparql_is_ordinary(term) THEN CAST(unix_micros(sparql_timestamp(term)) AS DECIMAL(38, 0)) * 1000000000000BD
    WHEN NOT contains('tO', left(term, 1)) THEN NULL
    WHEN sparql_is_day_time(term) OR sparql_is_year_month(term) THEN sparql_duration(term)
    ELSE transform(array(sparql_moment(term)), m -> sparql_local_instant(m) - m.offset)[0]
  END;
CREATE OR REPLACE TEMP MACRO sparql_has_zone(term) AS term RLIKE '[0-9](Z|[+-][0-9]{2}:[0-9]{2})\\z';
-- The properties that a comparison needs: the line, whether there is a time zone, the position on the line.
CREATE OR REPLACE TEMP MACRO sparql_on_line(term) AS
  named_struct('line', sparql_time_line(term), 'has_zone', sparql_has_zone(term), 'at', sparql_as_instant(term));

-- Values as text. `seconds` are times 10^18.
CREATE OR REPLACE TEMP MACRO sparql_date_text(date) AS ltrim('+', CAST(date AS STRING));
CREATE OR REPLACE TEMP MACRO sparql_fraction_text(seconds) AS
  sparql_trimmed(lpad(CAST((seconds) % sparql_one() AS STRING), 18, '0'));
CREATE OR REPLACE TEMP MACRO sparql_day_length() AS 86400000000000000000000BD;
CREATE OR REPLACE TEMP MACRO sparql_floor_day(local) AS
  TRY_CAST(
    sparql_whole_quotient(local, sparql_day_length()) - CASE WHEN (local) % sparql_day_length() < 0 THEN 1 ELSE 0 END AS INT
  );
CREATE OR REPLACE TEMP MACRO sparql_clock_text(seconds) AS
  transform(array(CAST(sparql_whole_quotient(seconds, sparql_one()) AS INT)), s ->
    concat_ws(':', lpad(CAST(s DIV 3600 AS STRING), 2, '0'), lpad(CAST(s DIV 60 % 60 AS STRING), 2, '0'), lpad(CAST(s % 60 AS STRING), 2, '0'))
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_local_text(local) AS
  transform(array(named_struct('day', sparql_floor_day(local), 'local', local)), l ->
    concat(
      sparql_date_text(date_from_unix_date(l.day)),
      transform(array(l.local - l.day * sparql_day_length()), c -> concat('T', sparql_clock_text(c), sparql_fraction_text(c)))[0]
    )
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_with_unit(number, unit) AS CASE WHEN number > 0 THEN concat(CAST(number AS STRING), unit) ELSE '' END;
CREATE OR REPLACE TEMP MACRO sparql_day_time_term(seconds) AS
  transform(array(seconds), r ->
    transform(
      array(
        named_struct(
          'is_negative', r < 0, 'whole', TRY_CAST(sparql_whole_quotient(abs(r), sparql_one()) AS BIGINT), 'rest', abs(r)
        )
      ),
      v -> concat(
        'Ohttp://www.w3.org/2001/XMLSchema#dayTimeDuration ',
        CASE v.is_negative WHEN TRUE THEN '-P' WHEN FALSE THEN 'P' END,
        sparql_with_unit(v.whole DIV 86400, 'D'),
        CASE WHEN v.rest % sparql_day_length() <> 0 OR v.rest = 0 THEN 'T' ELSE '' END,
        sparql_with_unit(v.whole DIV 3600 % 24, 'H'),
        sparql_with_unit(v.whole DIV 60 % 60, 'M'),
        CASE
          WHEN v.rest % (60 * sparql_one()) <> 0 OR v.rest = 0
          THEN concat(CAST(v.whole % 60 AS STRING), sparql_fraction_text(v.rest), 'S')
          ELSE ''
        END
      )
    )[0]
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_year_month_term(months) AS
  transform(array(months), m ->
    concat(
      'Ohttp://www.w3.org/2001/XMLSchema#yearMonthDuration ',
      CASE m < 0 WHEN TRUE THEN '-P' WHEN FALSE THEN 'P' END,
      sparql_with_unit(sparql_whole_quotient(abs(m), 12BD), 'Y'),
      CASE WHEN m % 12 <> 0 OR m = 0 THEN concat(CAST(abs(m % 12) AS STRING), 'M') ELSE '' END
    )
  )[0];

-- YEAR, MONTH, DAY, HOURS, MINUTES, SECONDS, TIMEZONE, TZ: of the local time. A date has no hours, a time no year.
-- 24:00:00 is the next day's midnight.
CREATE OR REPLACE TEMP MACRO sparql_next_midnight(moment) AS
  date_add(moment.day, CASE WHEN moment.clock >= sparql_day_length() THEN 1 ELSE 0 END);
CREATE OR REPLACE TEMP MACRO sparql_local_date(term) AS
  CASE
    WHEN sparql_is_ordinary(term) THEN TRY_CAST(substr(term, 2, 10) AS DATE)
    WHEN sparql_has_days(term) THEN transform(array(sparql_moment(term)), m -> sparql_next_midnight(m))[0]
  END;
CREATE OR REPLACE TEMP MACRO sparql_local_clock(term) AS
  CASE
    WHEN sparql_has_hours(term)
    THEN
      transform(array(sparql_moment(term)), m -> CASE WHEN m.day IS NOT NULL THEN m.clock % sparql_day_length() END)[0]
  END;
CREATE OR REPLACE TEMP MACRO sparql_year(term) AS concat('i', CAST(year(sparql_local_date(term)) AS STRING));
CREATE OR REPLACE TEMP MACRO sparql_month(term) AS concat('i', CAST(month(sparql_local_date(term)) AS STRING));
CREATE OR REPLACE TEMP MACRO sparql_day(term) AS concat('i', CAST(day(sparql_local_date(term)) AS STRING));
CREATE OR REPLACE TEMP MACRO sparql_whole_seconds(term) AS
  CAST(transform(array(sparql_local_clock(term)), c -> sparql_whole_quotient(c, sparql_one()))[0] AS INT);
CREATE OR REPLACE TEMP MACRO sparql_hours(term) AS concat('i', CAST(sparql_whole_seconds(term) DIV 3600 AS STRING));
CREATE OR REPLACE TEMP MACRO sparql_minutes(term) AS concat('i', CAST(sparql_whole_seconds(term) DIV 60 % 60 AS STRING));
CREATE OR REPLACE TEMP MACRO sparql_seconds(term) AS
  transform(array(sparql_local_clock(term)), c ->
    concat('d', CAST(sparql_whole_quotient(c, sparql_one()) % 60 AS STRING), sparql_fraction_text(c))
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_timezone(term) AS
  transform(array(sparql_moment(term)), m ->
    CASE WHEN m.day IS NOT NULL AND m.zone <> '' THEN sparql_day_time_term(m.offset) END
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_tz(term) AS
  transform(array(sparql_moment(term)), m -> CASE WHEN m.day IS NOT NULL THEN concat('S', m.zone) END)[0];

-- Sums and differences of times and durations. `direction` is 1 to add a duration, or -1 to subtract it.
CREATE OR REPLACE TEMP MACRO sparql_moved(term, local, zone) AS
  CASE
    WHEN left(term, 1) = 't' THEN concat('t', sparql_local_text(local), zone)
    ELSE concat('Ohttp://www.w3.org/2001/XMLSchema#date ', sparql_date_text(date_from_unix_date(sparql_floor_day(local))), zone)
  END;
-- (Dates reach five million years.)
CREATE OR REPLACE TEMP MACRO sparql_months_later(date, months) AS
  CASE WHEN abs(months) < 60000000 THEN add_months(date, CAST(months AS INT)) END;
CREATE OR REPLACE TEMP MACRO sparql_time_sum(a, b, direction) AS
  CASE
    WHEN NOT contains('tO', left(a, 1)) OR NOT contains('tO', left(b, 1)) THEN NULL
    WHEN sparql_has_days(a) AND (sparql_is_day_time(b) OR sparql_is_year_month(b)) THEN
      transform(array(named_struct('moment', sparql_moment(a), 'duration', sparql_duration(b) * direction)), s ->
        transform(
          array(
            CASE
              WHEN sparql_is_day_time(b) THEN try_add(sparql_local_instant(s.moment), s.duration)
              ELSE sparql_days(sparql_months_later(s.moment.day, s.duration)) + s.moment.clock
            END
          ),
          l -> sparql_moved(a, l, s.moment.zone)
        )[0]
      )[0]
    WHEN NOT startswith(b, CASE WHEN left(a, 1) = 't' THEN 't' ELSE left(a, instr(a, ' ')) END) THEN NULL
    ELSE
      transform(array(transform(array(a, b), x -> sparql_on_line(x))), k ->
        CASE
          WHEN sparql_is_year_month(a) THEN sparql_year_month_term(try_add(k[0].at, k[1].at * direction))
          WHEN sparql_is_day_time(a) OR (direction = -1 AND k[0].has_zone = k[1].has_zone)
          THEN sparql_day_time_term(try_add(k[0].at, k[1].at * direction))
        END
      )[0]
  END;

-- The evaluation instant of NOW(), given in milliseconds since 1970: in UTC, with a fraction of a second only if it is
-- not zero.
CREATE OR REPLACE TEMP MACRO sparql_instant_term(time) AS
  concat('t', sparql_local_text(CAST(time AS DECIMAL(38, 0)) * 1000000000000000BD), 'Z');
