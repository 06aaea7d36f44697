-- Strings (SPARQL 1.1 §17.4.3): simple ones and those with a language; a function's result has its first argument's kind.

CREATE OR REPLACE TEMP MACRO sparql_strlen(term) AS 'i' || length(sparql_text(term));
CREATE OR REPLACE TEMP MACRO sparql_strends(a, b) AS
  CASE WHEN sparql_are_compatible(a, b) THEN suffix(sparql_text(a), sparql_text(b)) END;
-- A string that is repeatedly concatenated with itself soon exceeds the memory: this ends the query. (DuckDB does not
-- allow its `error` within TRY; an invalid cast to a number raises the same message.)
CREATE OR REPLACE TEMP MACRO sparql_concat(terms) AS
  CASE
    WHEN list_count(list_filter(terms, lambda sparql_x: contains('SL', left(sparql_x, 1)))) <> len(terms) THEN NULL
    WHEN list_sum(list_transform(terms, lambda sparql_x: length(sparql_x))) > 16777216
    THEN ('CONCAT makes a string of more than 16777216 characters' || left(terms[1], 0))::INTEGER::VARCHAR
    ELSE
      CASE
        WHEN len(list_distinct(list_transform(terms, lambda sparql_x: sparql_string_kind(sparql_x)))) = 1
        THEN sparql_string_kind(terms[1])
        ELSE 'S'
      END || array_to_string(list_transform(terms, lambda sparql_x: sparql_text(sparql_x)), '')
  END;

-- Characters count from 1; positions before the first are no error.
CREATE OR REPLACE TEMP MACRO sparql_characters(text, first, after) AS
  CASE
    WHEN text IS NOT NULL AND after IS NOT NULL
    THEN substr(text, greatest(first, 1)::BIGINT, greatest(least(after, length(text) + 1) - greatest(first, 1), 0)::BIGINT)
  END;
CREATE OR REPLACE TEMP MACRO sparql_substr_of(term, start, size) AS
  sparql_string_kind(term)
  || list_transform([{'start': sparql_as_integer(start), 'size': sparql_as_integer(size)}], lambda sparql_p:
    sparql_characters(
      sparql_text(term), least(sparql_p.start, 4000000000), TRY(sparql_p.start + sparql_p.size)
    )
  )[1];
CREATE OR REPLACE TEMP MACRO sparql_substr(term, start) AS
  sparql_string_kind(term)
  || list_transform([sparql_as_integer(start)], lambda sparql_p:
    sparql_characters(
      sparql_text(term), least(sparql_p, 4000000000), CASE WHEN sparql_p IS NOT NULL THEN 4000000000 END
    )
  )[1];

CREATE OR REPLACE TEMP MACRO sparql_encode_for_uri(term) AS 'S' || url_encode(sparql_text(term));
-- The engine maps character to character; the capital of some characters is two characters (ß: SS): special_capitals
-- lists them.
CREATE OR REPLACE TEMP MACRO sparql_upper(text) AS
  CASE
    WHEN strlen(text) = length(text) THEN upper(text)
    ELSE
      array_to_string(
        list_transform(
          string_split(text, ''),
          lambda sparql_x: coalesce(sparql_special_capitals()[sparql_x], upper(sparql_x))
        ),
        ''
      )
  END;
CREATE OR REPLACE TEMP MACRO sparql_lower(text) AS
  CASE
    WHEN strlen(text) = length(text) THEN lower(text)
    ELSE lower(replace(regexp_replace(text, '(\pL\pM*)Σ(\PL|$)', '\1ς\2', 'g'), 'İ', 'i̇'))
  END;
CREATE OR REPLACE TEMP MACRO sparql_ucase(term) AS sparql_string_kind(term) || sparql_upper(sparql_text(term));
CREATE OR REPLACE TEMP MACRO sparql_lcase(term) AS sparql_string_kind(term) || sparql_lower(sparql_text(term));

CREATE OR REPLACE TEMP MACRO sparql_langmatches(language, language_range) AS
  CASE
    WHEN left(language, 1) = 'S' AND left(language_range, 1) = 'S'
    THEN
      CASE
        WHEN language_range = 'S*' THEN language <> 'S'
        ELSE
          lower(language) = lower(language_range) OR starts_with(lower(language), lower(language_range) || '-')
      END
  END;

-- Regular expressions. A constant pattern is translated when the query is compiled (patterns.py). These macros do the
-- same, less exactly, for patterns in the data: if they contain a character class, \w is that of ASCII.
CREATE OR REPLACE TEMP MACRO sparql_in_unicode(pattern) AS
  CASE
    WHEN NOT contains(pattern, '\') THEN pattern
    WHEN contains(pattern, '[') THEN
      replace(replace(replace(replace(pattern, '\\', chr(1)), '\d', '\p{Nd}'), '\D', '\P{Nd}'), chr(1), '\\')
    ELSE
      replace(replace(replace(replace(pattern, '\\', chr(1)), '\d', '\p{Nd}'), '\D', '\P{Nd}'), '\w', '[\p{L}\p{M}\p{N}\p{S}]')
        .replace('\W', '[\p{P}\p{Z}\p{C}]').replace(chr(1), '\\')
  END;
CREATE OR REPLACE TEMP MACRO sparql_flagged(pattern, flags) AS
  CASE
    WHEN regexp_full_match(flags, '[smixq]*')
    THEN
      CASE WHEN regexp_matches(flags, '[smi]') THEN '(?' || regexp_replace(flags, '[xq]', '', 'g') || ')' ELSE '' END
      || CASE
        WHEN contains(flags, 'q') THEN regexp_escape(pattern)
        WHEN contains(regexp_replace(pattern, '(?s)\\[pP]\{\w+\}|\\.|\[[^\]]*\]|\{[0-9]+(,[0-9]*)?\}', '', 'g'), '{') THEN NULL
        WHEN contains(flags, 'x') THEN regexp_replace(sparql_in_unicode(pattern), '\s', '', 'g')
        ELSE sparql_in_unicode(pattern)
      END
  END;
-- '$1' → '\1', '\$' → '$', '\\' → '\\'; anything else with these two characters is an error (err:FORX0004).
CREATE OR REPLACE TEMP MACRO sparql_rewrite(text) AS
  CASE
    WHEN regexp_full_match(text, '(?s)(\\[\\$]|\$[0-9]|[^\\$])*')
    THEN
      regexp_replace(replace(replace(text, '\\', chr(1)), '\$', chr(2)), '\$([0-9])', '\\\1', 'g')
        .replace(chr(1), '\\').replace(chr(2), '$')
  END;
CREATE OR REPLACE TEMP MACRO sparql_regex(term, pattern) AS TRY(regexp_matches(sparql_text(term), pattern));
-- A pattern that matches the empty string is an error (XPath functions, err:FORX0003).
CREATE OR REPLACE TEMP MACRO sparql_replace(term, pattern, replacement) AS
  CASE
    WHEN TRY(regexp_matches('', pattern)) THEN NULL
    ELSE sparql_string_kind(term) || TRY(regexp_replace(sparql_text(term), pattern, replacement, 'g'))
  END;
-- RE2 never backtracks. For a pattern that may be invalid, TRY is enough; arguments that are not plain are evaluated
-- once.
CREATE OR REPLACE TEMP MACRO sparql_regex_linear(term, pattern) AS sparql_regex(term, pattern);
CREATE OR REPLACE TEMP MACRO sparql_replace_linear(term, pattern, replacement) AS sparql_replace(term, pattern, replacement);
CREATE OR REPLACE TEMP MACRO sparql_regex_tried(term, pattern) AS
  list_transform([term], lambda sparql_t: sparql_regex(sparql_t, pattern))[1];
CREATE OR REPLACE TEMP MACRO sparql_replace_tried(term, pattern, replacement) AS
  list_transform(
    [term], lambda sparql_t: list_transform([pattern], lambda sparql_p: sparql_replace(sparql_t, sparql_p, replacement))[1]
  )[1];

-- IRIs from strings: absolute ones unchanged, relative ones joined to the parts of the base that the compiler knows.
CREATE OR REPLACE TEMP MACRO sparql_is_iri_text(text) AS
  regexp_full_match(text, '([^/?#\[]*//[^/?#\[]*\[[0-9A-Fa-f:.]+\])?([^\x00-\x20<>"{}|^`\\%\[\]]|%[0-9A-Fa-f]{2})*');
CREATE OR REPLACE TEMP MACRO sparql_is_absolute(text) AS regexp_matches(text, '^[A-Za-z][A-Za-z0-9+.-]*:');
CREATE OR REPLACE TEMP MACRO sparql_without_dots(path) AS
  CASE
    WHEN NOT regexp_matches(path, '(^|/)\.\.?(/|$)') THEN path
    ELSE
      array_to_string(
        list_reduce(
          list_transform(string_split(path, '/'), lambda sparql_x: [sparql_x]),
          lambda sparql_done, sparql_next:
            CASE
              WHEN sparql_next[1] = '.' THEN sparql_done
              WHEN sparql_next[1] = '..' THEN CASE WHEN len(sparql_done) > 1 THEN sparql_done[:-2] ELSE sparql_done END
              ELSE list_concat(sparql_done, sparql_next)
            END
        )
        || CASE WHEN regexp_matches(path, '/\.\.?$') THEN [''] ELSE [] END,
        '/'
      )
  END;
CREATE OR REPLACE TEMP MACRO sparql_resolved(reference, scheme, authority, directory, page) AS
  CASE
    WHEN sparql_is_absolute(reference) THEN reference
    WHEN starts_with(reference, '//') THEN scheme || reference
    WHEN starts_with(reference, '/') THEN
      scheme || authority || sparql_without_dots(regexp_extract(reference, '^[^?#]*')) || regexp_extract(reference, '[?#].*$')
    WHEN reference = '' OR starts_with(reference, '#') THEN page || reference
    WHEN starts_with(reference, '?') THEN regexp_extract(page, '^[^?]*') || reference
    ELSE
      scheme || authority || sparql_without_dots(directory || regexp_extract(reference, '^[^?#]*'))
      || regexp_extract(reference, '[?#].*$')
  END;

CREATE OR REPLACE TEMP MACRO sparql_uuid() AS 'Iurn:uuid:' || gen_random_uuid();
CREATE OR REPLACE TEMP MACRO sparql_struuid() AS 'S' || gen_random_uuid();
CREATE OR REPLACE TEMP MACRO sparql_new_blank() AS 'Bn' || replace(gen_random_uuid()::VARCHAR, '-', '');
-- One blank node for a string within a solution, another in the next: its label combines both.
CREATE OR REPLACE TEMP MACRO sparql_blank_of(term, solution) AS 'Bn' || md5(solution::VARCHAR || ' ' || sparql_simple_text(term));
