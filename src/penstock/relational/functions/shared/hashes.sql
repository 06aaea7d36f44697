-- Hashes of a simple string, in lower-case hexadecimal.

CREATE OR REPLACE TEMP MACRO sparql_md5(term) AS 'S' || md5(sparql_simple_text(term));
CREATE OR REPLACE TEMP MACRO sparql_sha1(term) AS 'S' || sha1(sparql_simple_text(term));
