"""Terms, timestamps and lines of N-Triples and its kin: ordinary ones, odd ones, and wrong ones."""

from __future__ import annotations

from penstock.rdf.vocabulary import RDF, XSD

ORDINARY_TERMS = (
    "<http://ex.org/gate7>", "<https://ex.org:8080/a/b?c=d&e=f#g>", "<urn:isbn:0-14-044913-5>", "<mailto:a@ex.org>",
    "<http://ex.org/%C3%A9t%c3%a9>", "<http://ex.org/été/東京>", "<http://ex.org>", "<a:>", "<file:///tmp/a>",
    "_:b", "_:0", "_:B_1-x", "_:a.b", "_:a-",
    '""', '"plain"', '"two words, and  more "', '"été 東京 🚗"', '" \u00a0\u2028\u0085 "', '"# no comment ."',
    "\"it's\"", '"<a:b> <c:d> <e:f>"', '"chat"@fr', '"colour"@en-GB', '"Wort"@DE', '"字"@zh-Hant-TW',
    *(f'"7"^^<{XSD}{name}>' for name in "string integer decimal double float boolean dateTime".split()),
    *(f'"7"^^<{XSD}{name}>' for name in "int long short byte nonNegativeInteger unsignedByte".split()),
    *(f'"7"^^<{XSD}{name}>' for name in "date gYear duration anyURI Integer".split()),
    f'"1 2"^^<{XSD}integer>', '"POINT(1 2)"^^<http://www.opengis.net/ont/geosparql#wktLiteral>', '""^^<http://ex.org/t>',
    '"1"^^<http://ex.org/été>',
)  # fmt: skip

ODD_TERMS = (
    "<http://ex.org/\\u00e9>", "<http://[::1]/>", "<http://user@ex.org/>", "<http://ex.org/\U0001f697>", "_:été",
    r'"a \"quoted\" word"', r'"line\nline"', r'"\u00e9\U0001F697"', r'"\\"', '"tab\tin it"', '"nul\x00in it"',
    '"a"@x-private', '"a"@en-a-bbb-x-a', '"a"@de-1996', f'"<b/>"^^<{RDF}HTML>', '"a"^^<urn:x>', '"a"^^<http://w.org/>',
)  # fmt: skip

WRONG_TERMS = (
    "<relative>", "<>", "<http://ex.org/a b>", "<http://ex.org/{a}>", "<http://ex.org/%zz>", "<http://ex.org:port/>",
    "<http://ex.org/#a#b>", "<1a:b>", "<http://ex.org/\ue000>", "<http://ex.org/", "http://ex.org/", "_:", "_:-a",
    "_:.a", "_:a.", "_:a:b", '"open', 'open"', '"', '"a"b"', r'"\x"', r'"\u12"', '"a"@', '"a"@a1', '"a"@en_GB',
    '"a"@en--ltr', '"a"^^<relative>', '"a"^^xsd:integer', '"a"^^<>', f'"a"^^<{RDF}langString>',
    f'"a"^^<{RDF}dirLangString>', "7", "true", "<< <a:b> <a:c> <a:d> >>", "<<( <a:b> <a:c> <a:d> )>>",
    "<a:b> <a:c>", "", "'a'", '"""a"""', '"7"^^<http://www]w3.org/2001/XMLSchema#int>',
)  # fmt: skip

ORDINARY_TIMES = (
    '"0"', '"1000"', '"-5"', '"007"', '"123456789012345678"', '"-123456789012345678"', f'"1"^^<{XSD}integer>',
    f'"1"^^<{XSD}unsignedShort>', '"2024-05-01T12:00:00Z"', '"2024-05-01T12:00:00"', '"2024-05-01T12:00:00.1Z"',
    '"2024-05-01T12:00:00.123456789+02:30"', '"2024-12-31T23:59:59-14:00"', '"1969-12-31T23:59:59.5Z"',
    '"1000-01-01T00:00:00.999+14:00"', '"2999-12-31T23:59:59-00:00"', '"2024-02-29T00:00:00Z"',
    '"2096-02-29T00:00:00"', f'"2024-02-28T00:00:00Z"^^<{XSD}dateTime>',
    f'"2024-02-28T00:00:00Z"^^<{XSD}dateTimeStamp>',
)  # fmt: skip

ODD_TIMES = (
    '"+5"', '"2000-02-29T00:00:00Z"', '"2024-05-01"', f'"2024-05-01"^^<{XSD}date>',
    '"2024-05-01T24:00:00Z"', '"0001-01-01T00:00:00Z"', '"9999-12-31T23:59:59Z"', f'"1"^^<{XSD}string>',
)  # fmt: skip

WRONG_TIMES = (
    '"soon"', '""', '" 1"', '"1.5"', '"1000000000000000000"', '"-9223372036854775808"', '"99999999999999999999"',
    '"2023-02-29T00:00:00Z"', '"2024-04-31T00:00:00Z"',
    '"2024-13-01T00:00:00Z"', '"2024-05-01T12:60:00Z"', '"2024-05-01T12:00:60Z"', '"2024-05-01T25:00:00Z"',
    '"2024-05-01T12:00:00+15:00"', '"2024-05-01T12:00:00+02:60"', '"2024-05-01T12:00Z"', '"2024-05-01 12:00:00Z"',
    '"0000-01-01T00:00:00Z"', '"0001-01-01T00:00:00+01:00"', '"٣"', f'"1"^^<{XSD}dateTime>', f'"1"^^<{XSD}double>',
    f'"2024-05-01T12:00:00Z"^^<{XSD}integer>', '"1"@en', "1000", "", r'"1\n"', '"1"^^<x>',
)  # fmt: skip

TRIPLE = "<http://ex.org/a> <http://ex.org/p> <http://ex.org/b>"
LINE = f'{TRIPLE} "1000" .'

ODD_LINES = (
    "", " ", "\t", "\x1c", "\u2028", "# a comment", "  # another", f"{LINE} # why", f"{LINE}#", f" {LINE}", f"{LINE} ",
    LINE.replace(" ", "\t"), LINE.replace(" ", "  "), LINE.replace(" ", ""), LINE.replace(" .", "."), f"\x85{LINE}",
    f"{LINE}\r", f"{LINE}\x00", f"{LINE} {LINE}", f"{LINE}\r{LINE}", LINE[:-1], LINE[:-9], f"{TRIPLE} .",
    f"{TRIPLE} 7 .", f"{TRIPLE} <http://ex.org/g> .", f'{TRIPLE} <http://ex.org/g> "1" .', f'{TRIPLE} "1" "2" .',
    LINE[1:], "\ufeff" + LINE, "nonsense", ".", '"1" .', "\x00", f"{TRIPLE} '1' .", f'{TRIPLE} "1" ..',
    f'{TRIPLE} "1" .\x0b', f'{TRIPLE}\x0b"1" .',
)  # fmt: skip


def timed(triple: tuple[str, str, str], time: str = '"1000"') -> str:
    return " ".join((*triple, time, "."))


def triples_with(term: str) -> list[tuple[str, str, str]]:
    """Triples in which a term is subject, predicate and object."""
    return [(term, "<a:p>", "<a:o>"), ("<a:s>", term, "<a:o>"), ("<a:s>", "<a:p>", term)]
