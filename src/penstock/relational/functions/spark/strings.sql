-- Strings (SPARQL 1.1 §17.4.3): simple ones and those with a language; a function's result has its first argument's kind.

CREATE OR REPLACE TEMP MACRO sparql_strlen(term) AS concat('i', CAST(length(sparql_text(term)) AS STRING));
CREATE OR REPLACE TEMP MACRO sparql_strends(a, b) AS
  CASE WHEN sparql_are_compatible(a, b) THEN endswith(sparql_text(a), sparql_text(b)) END;
-- A string that is repeatedly concatenated with itself soon exceeds the memory: this ends the query.
CREATE OR REPLACE TEMP MACRO sparql_concat(terms) AS
  CASE
    WHEN NOT coalesce(forall(terms, x -> contains('SL', left(x, 1))), FALSE) THEN NULL
    WHEN aggregate(terms, 0L, (n, x) -> n + length(x)) > 16777216
    THEN raise_error('CONCAT makes a string of more than 16777216 characters')
    ELSE
      concat(
        CASE
          WHEN size(array_distinct(transform(terms, x -> sparql_string_kind(x)))) = 1 THEN sparql_string_kind(terms[0])
          ELSE 'S'
        END,
        array_join(transform(terms, x -> sparql_text(x)), '')
      )
  END;

-- Characters count from 1; positions before the first are no error.
CREATE OR REPLACE TEMP MACRO sparql_characters(text, first, after) AS
  CASE
    WHEN text IS NOT NULL AND after IS NOT NULL
    THEN
      substr(
        text, CAST(greatest(first, 1) AS INT), CAST(greatest(least(after, length(text) + 1) - greatest(first, 1), 0) AS INT)
      )
  END;
CREATE OR REPLACE TEMP MACRO sparql_substr_of(term, start, size) AS
  transform(array(named_struct('start', sparql_as_integer(start), 'size', sparql_as_integer(size))), p ->
    concat(
      sparql_string_kind(term),
      sparql_characters(sparql_text(term), least(p.start, 2000000000BD), try_add(p.start, p.size))
    )
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_substr(term, start) AS
  transform(array(least(sparql_as_integer(start), 2000000000BD)), p ->
    concat(
      sparql_string_kind(term),
      sparql_characters(sparql_text(term), p, CASE WHEN sparql_as_integer(start) IS NOT NULL THEN 2000000000BD END)
    )
  )[0];

-- Java encodes HTML forms, with a plus for a space.
CREATE OR REPLACE TEMP MACRO sparql_encode_for_uri(term) AS
  concat('S', replace(replace(replace(url_encode(sparql_text(term)), '+', '%20'), '*', '%2A'), '%7E', '~'));
CREATE OR REPLACE TEMP MACRO sparql_ucase(term) AS concat(sparql_string_kind(term), upper(sparql_text(term)));
CREATE OR REPLACE TEMP MACRO sparql_lcase(term) AS concat(sparql_string_kind(term), lower(sparql_text(term)));

CREATE OR REPLACE TEMP MACRO sparql_langmatches(language, language_range) AS
  CASE
    WHEN left(language, 1) = 'S' AND left(language_range, 1) = 'S'
    THEN
      CASE
        WHEN language_range = 'S*' THEN language <> 'S'
        ELSE
          lower(language) = lower(language_range) OR startswith(lower(language), concat(lower(language_range), '-'))
      END
  END;

-- Regular expressions. A constant pattern is translated when the query is compiled (patterns.py). These macros do the
-- same, less exactly, for patterns in the data: if they contain a character class, \w and $ are those of Java. An escaped
-- backslash in the pattern is meanwhile kept as chr(1), an escaped dollar as chr(2).
CREATE OR REPLACE TEMP MACRO sparql_in_unicode(pattern) AS
  CASE
    WHEN contains(pattern, '[') THEN
      replace(replace(replace(replace(pattern, '\\\\', chr(1)), '\\d', '\\p{Nd}'), '\\D', '\\P{Nd}'), chr(1), '\\\\')
    ELSE
      replace(
        replace(
          replace(
            replace(
              replace(
                replace(replace(replace(replace(pattern, '\\\\', chr(1)), '\\d', '\\p{Nd}'), '\\D', '\\P{Nd}'), '\\$', chr(2)),
                '$', '\\z'
              ),
              '\\w', '[\\p{L}\\p{M}\\p{N}\\p{S}]'
            ),
            '\\W', '[\\p{P}\\p{Z}\\p{C}]'
          ),
          chr(2), '\\$'
        ),
        chr(1), '\\\\'
      )
  END;
CREATE OR REPLACE TEMP MACRO sparql_quoted(text) AS regexp_replace(text, '[\\\\.^$|?*+()\\[\\]{}-]', '\\\\$0');
CREATE OR REPLACE TEMP MACRO sparql_flagged(pattern, flags) AS
  CASE
    WHEN flags RLIKE '^[smixq]*\\z'
    THEN
      concat(
        CASE WHEN flags RLIKE '[smi]' THEN concat('(?', regexp_replace(flags, '[xq]', ''), ')') ELSE '' END,
        CASE
          WHEN contains(flags, 'q') THEN sparql_quoted(pattern)
          WHEN regexp_replace(pattern, '(?s)\\\\[pP]\\{\\w+\\}|\\\\.|\\[[^\\]]*\\]|\\{[0-9]+(,[0-9]*)?\\}', '') RLIKE '\\{|\\(\\?[^:]|[*+?]\\+'
          THEN NULL
          WHEN contains(flags, 'x') THEN regexp_replace(sparql_in_unicode(pattern), '\\s', '')
          WHEN contains(flags, 'm') THEN replace(sparql_in_unicode(pattern), '\\z', '$')
          ELSE sparql_in_unicode(pattern)
        END
      )
  END;
-- '$1' → '\1', '\$' → '$', '\\' → '\\'; anything else with these two characters is an error (err:FORX0004).
CREATE OR REPLACE TEMP MACRO sparql_rewrite(text) AS
  CASE
    WHEN text RLIKE '(?s)^(\\\\[\\\\$]|\\$[0-9]|[^\\\\$])*+\\z'
    THEN
      replace(
        replace(
          regexp_replace(replace(replace(text, '\\\\', chr(1)), '\\$', chr(2)), '\\$([0-9])', '\\\\$1'), chr(1), '\\\\'
        ),
        chr(2), '$'
      )
  END;
-- The replacement in Java's syntax: '\1' → '$1', '$' → '\$'. A digit that follows a group's number is not part of it,
-- so it is escaped.
CREATE OR REPLACE TEMP MACRO sparql_java_rewrite(rewrite) AS
  replace(
    replace(
      regexp_replace(
        regexp_replace(replace(replace(rewrite, '\\\\', chr(1)), '$', '\\$'), '\\\\([0-9])', concat('\\$$1', chr(2))),
        concat(chr(2), '(?=[0-9])'), '\\\\'
      ),
      chr(2), ''
    ),
    chr(1), '\\\\'
  );
-- Case folding as in Unicode, and one line separator, as in XPath.
CREATE OR REPLACE TEMP MACRO sparql_java_pattern(pattern) AS concat('(?du)', pattern);
CREATE OR REPLACE TEMP MACRO sparql_regex(term, pattern) AS sparql_text(term) RLIKE sparql_java_pattern(pattern);
-- A pattern that matches the empty string is an error (XPath functions, err:FORX0003).
CREATE OR REPLACE TEMP MACRO sparql_replace(term, pattern, replacement) AS
  CASE
    WHEN '' RLIKE sparql_java_pattern(pattern) THEN NULL
    ELSE
      concat(
        sparql_string_kind(term),
        regexp_replace(sparql_text(term), sparql_java_pattern(pattern), sparql_java_rewrite(replacement))
      )
  END;
-- The same for patterns for which Java could take too long, and for those that may be invalid: UDFs with RE2
-- (engines/spark/patterns.py).
CREATE OR REPLACE TEMP MACRO sparql_regex_linear(term, pattern) AS penstock_regex(term, pattern);
CREATE OR REPLACE TEMP MACRO sparql_replace_linear(term, pattern, replacement) AS penstock_replace(term, pattern, replacement);
CREATE OR REPLACE TEMP MACRO sparql_regex_tried(term, pattern) AS penstock_regex(term, pattern);
CREATE OR REPLACE TEMP MACRO sparql_replace_tried(term, pattern, replacement) AS penstock_replace(term, pattern, replacement);

-- IRIs from strings: absolute ones unchanged, relative ones joined to the parts of the base that the compiler knows.
CREATE OR REPLACE TEMP MACRO sparql_is_iri_text(text) AS
  text RLIKE '^([^/?#\\[]*//[^/?#\\[]*\\[[0-9A-Fa-f:.]+\\])?([^\\x00-\\x20<>"{}|^`\\\\%\\[\\]]++|%[0-9A-Fa-f]{2})*+\\z';
CREATE OR REPLACE TEMP MACRO sparql_is_absolute(text) AS text RLIKE '^[A-Za-z][A-Za-z0-9+.-]*:';
CREATE OR REPLACE TEMP MACRO sparql_without_dots(path) AS
  transform(array(path), p ->
    CASE
      WHEN NOT p RLIKE '(^|/)\\.\\.?(/|\\z)' THEN p
      ELSE
        array_join(
          concat(
            aggregate(
              slice(split(p, '/'), 2, length(p) + 1),
              slice(split(p, '/'), 1, 1),
              (done, part) ->
                CASE
                  WHEN part = '.' THEN done
                  WHEN part = '..' THEN slice(done, 1, greatest(size(done) - 1, 1))
                  ELSE array_append(done, part)
                END
            ),
            CASE WHEN p RLIKE '/\\.\\.?\\z' THEN array('') ELSE CAST(array() AS ARRAY<STRING>) END
          ),
          '/'
        )
    END
  )[0];
CREATE OR REPLACE TEMP MACRO sparql_reference_path(reference) AS regexp_extract(reference, '^[^?#]*', 0);
CREATE OR REPLACE TEMP MACRO sparql_reference_rest(reference) AS regexp_extract(reference, '(?s)[?#].*', 0);
CREATE OR REPLACE TEMP MACRO sparql_resolved(reference, scheme, authority, directory, page) AS
  CASE
    WHEN sparql_is_absolute(reference) THEN reference
    WHEN startswith(reference, '//') THEN concat(scheme, reference)
    WHEN startswith(reference, '/') THEN
      concat(scheme, authority, sparql_without_dots(sparql_reference_path(reference)), sparql_reference_rest(reference))
    WHEN reference = '' OR startswith(reference, '#') THEN concat(page, reference)
    WHEN startswith(reference, '?') THEN concat(regexp_extract(page, '^[^?]*', 0), reference)
    ELSE
      concat(
        scheme, authority, sparql_without_dots(concat(directory, sparql_reference_path(reference))), sparql_reference_rest(reference)
      )
  END;

CREATE OR REPLACE TEMP MACRO sparql_uuid() AS concat('Iurn:uuid:', uuid());
CREATE OR REPLACE TEMP MACRO sparql_struuid() AS concat('S', uuid());
CREATE OR REPLACE TEMP MACRO sparql_new_blank() AS concat('Bn', replace(uuid(), '-', ''));
-- One blank node for a string within a solution, another in the next: its label combines both.
CREATE OR REPLACE TEMP MACRO sparql_blank_of(term, solution) AS
  concat('Bn', md5(concat(CAST(solution AS STRING), ' ', sparql_simple_text(term))));
