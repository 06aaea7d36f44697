-- Hashes of a simple string, in lower-case hexadecimal.

CREATE OR REPLACE TEMP MACRO sparql_sha256(term) AS 'S' || sha256(sparql_simple_text(term));

-- DuckDB has neither SHA-512 nor SHA-384, so they are implemented here (FIPS 180-4). 64-bit words are kept in UHUGEINTs
-- and truncated after each sum; a fold over a list replaces each loop of the standard.
CREATE OR REPLACE TEMP MACRO sparql_word(x) AS x & 18446744073709551615::UHUGEINT;
CREATE OR REPLACE TEMP MACRO sparql_shift(x, n) AS x >> n::UHUGEINT;
CREATE OR REPLACE TEMP MACRO sparql_rotate(x, n) AS sparql_shift(x, n) | sparql_word(x << (64 - n)::UHUGEINT);
CREATE OR REPLACE TEMP MACRO sparql_xor(x, y, z) AS xor(xor(x, y), z);
-- The first 64 bits of the fractional parts of the cube roots of the first 80 primes.
CREATE OR REPLACE TEMP MACRO sparql_sha512_constants() AS
  [
    4794697086780616226, 8158064640168781261, 13096744586834688815, 16840607885511220156, 4131703408338449720,
    6480981068601479193, 10538285296894168987, 12329834152419229976, 15566598209576043074, 1334009975649890238,
    2608012711638119052, 6128411473006802146, 8268148722764581231, 9286055187155687089, 11230858885718282805,
    13951009754708518548, 16472876342353939154, 17275323862435702243, 1135362057144423861, 2597628984639134821,
    3308224258029322869, 5365058923640841347, 6679025012923562964, 8573033837759648693, 10970295158949994411,
    12119686244451234320, 12683024718118986047, 13788192230050041572, 14330467153632333762, 15395433587784984357,
    489312712824947311, 1452737877330783856, 2861767655752347644, 3322285676063803686, 5560940570517711597,
    5996557281743188959, 7280758554555802590, 8532644243296465576, 9350256976987008742, 10552545826968843579,
    11727347734174303076, 12113106623233404929, 14000437183269869457, 14369950271660146224, 15101387698204529176,
    15463397548674623760, 17586052441742319658, 1182934255886127544, 1847814050463011016, 2177327727835720531,
    2830643537854262169, 3796741975233480872, 4115178125766777443, 5681478168544905931, 6601373596472566643,
    7507060721942968483, 8399075790359081724, 8693463985226723168, 9568029438360202098, 10144078919501101548,
    10430055236837252648, 11840083180663258601, 13761210420658862357, 14299343276471374635, 14566680578165727644,
    15097957966210449927, 16922976911328602910, 17689382322260857208, 500013540394364858, 748580250866718886,
    1242879168328830382, 1977374033974150939, 2944078676154940804, 3659926193048069267, 4368137639120453308,
    4836135668995329356, 5532061633213252278, 6448918945643986474, 6902733635092675308, 7801388544844847127
  ]::UHUGEINT[];
-- The message in hexadecimal, with its padding: a bit, zeros, and the length in bits; a multiple of 128 bytes.
CREATE OR REPLACE TEMP MACRO sparql_sha512_padded(text) AS
  hex(encode(text)) || '80' || repeat('00', (239 - strlen(text) % 128) % 128) || lpad(to_hex(strlen(text) * 8), 32, '0');
CREATE OR REPLACE TEMP MACRO sparql_sha512_blocks(padded) AS
  list_transform(range(length(padded) // 256), lambda sparql_b:
    list_transform(range(16), lambda sparql_w: ('0x' || substr(padded, sparql_b * 256 + sparql_w * 16 + 1, 16))::UBIGINT::UHUGEINT)
  );
-- Sixteen words become eighty.
CREATE OR REPLACE TEMP MACRO sparql_sha512_schedule(block) AS
  list_reduce(
    list_transform(range(64), lambda sparql_n: [0::UHUGEINT]),
    lambda sparql_w, sparql_n:
      list_append(
        sparql_w,
        sparql_word(
          sparql_xor(sparql_rotate(sparql_w[-2], 19), sparql_rotate(sparql_w[-2], 61), sparql_shift(sparql_w[-2], 6)) + sparql_w[-7]
          + sparql_xor(sparql_rotate(sparql_w[-15], 1), sparql_rotate(sparql_w[-15], 8), sparql_shift(sparql_w[-15], 7)) + sparql_w[-16]
        )
      ),
    block
  );
-- A round: the next state, from the state [a, b, c, d, e, f, g, h] and the word with its constant.
CREATE OR REPLACE TEMP MACRO sparql_sha512_first(s, word) AS
  s[8] + sparql_xor(sparql_rotate(s[5], 14), sparql_rotate(s[5], 18), sparql_rotate(s[5], 41))
  + xor(s[5] & s[6], xor(s[5], 18446744073709551615::UHUGEINT) & s[7]) + word;
CREATE OR REPLACE TEMP MACRO sparql_sha512_second(s) AS
  sparql_xor(sparql_rotate(s[1], 28), sparql_rotate(s[1], 34), sparql_rotate(s[1], 39))
  + sparql_xor(s[1] & s[2], s[1] & s[3], s[2] & s[3]);
CREATE OR REPLACE TEMP MACRO sparql_sha512_compressed(state, block) AS
  list_reduce(
    list_transform(
      list_zip(sparql_sha512_schedule(block), sparql_sha512_constants()), lambda sparql_k: [sparql_k[1] + sparql_k[2]]
    ),
    lambda sparql_s, sparql_k:
      [
        sparql_word(sparql_sha512_first(sparql_s, sparql_k[1]) + sparql_sha512_second(sparql_s)),
        sparql_s[1], sparql_s[2], sparql_s[3],
        sparql_word(sparql_s[4] + sparql_sha512_first(sparql_s, sparql_k[1])),
        sparql_s[5], sparql_s[6], sparql_s[7]
      ],
    state
  );
CREATE OR REPLACE TEMP MACRO sparql_sha512_hash(text, start, size) AS
  left(
    array_to_string(
      list_transform(
        list_reduce(
          sparql_sha512_blocks(sparql_sha512_padded(text)),
          lambda sparql_h, sparql_m:
            list_transform(
              list_zip(sparql_h, sparql_sha512_compressed(sparql_h, sparql_m)), lambda sparql_z: sparql_word(sparql_z[1] + sparql_z[2])
            ),
          start
        ),
        lambda sparql_z: lower(lpad(to_hex(sparql_z), 16, '0'))
      ),
      ''
    ),
    size
  );
-- The initial values: the square roots of the first eight primes, and of the next eight.
CREATE OR REPLACE TEMP MACRO sparql_sha512(term) AS
  'S' || sparql_sha512_hash(
    sparql_simple_text(term),
    [
      7640891576956012808, 13503953896175478587, 4354685564936845355, 11912009170470909681,
      5840696475078001361, 11170449401992604703, 2270897969802886507, 6620516959819538809
    ]::UHUGEINT[],
    128
  );
CREATE OR REPLACE TEMP MACRO sparql_sha384(term) AS
  'S' || sparql_sha512_hash(
    sparql_simple_text(term),
    [
      14680500436340154072, 7105036623409894663, 10473403895298186519, 1526699215303891257,
      7436329637833083697, 10282925794625328401, 15784041429090275239, 5167115440072839076
    ]::UHUGEINT[],
    96
  );
