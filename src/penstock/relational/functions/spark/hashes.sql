-- Hashes of a simple string, in lower-case hexadecimal.

CREATE OR REPLACE TEMP MACRO sparql_sha256(term) AS concat('S', sha2(sparql_simple_text(term), 256));
CREATE OR REPLACE TEMP MACRO sparql_sha384(term) AS concat('S', sha2(sparql_simple_text(term), 384));
CREATE OR REPLACE TEMP MACRO sparql_sha512(term) AS concat('S', sha2(sparql_simple_text(term), 512));
