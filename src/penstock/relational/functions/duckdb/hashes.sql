-- Hashes of a simple string, in lower-case hexadecimal. DuckDB has no SHA-384 and SHA-512, so here they are (FIPS 180-4).

CREATE OR REPLACE TEMP MACRO sparql_md5(term) AS 'S' || md5(sparql_simple_text(term));
CREATE OR REPLACE TEMP MACRO sparql_sha1(term) AS 'S' || sha1(sparql_simple_text(term));
CREATE OR REPLACE TEMP MACRO sparql_sha256(term) AS 'S' || sha256(sparql_simple_text(term));
