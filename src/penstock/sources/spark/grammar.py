r"""The terms of N-Triples, as regular expressions of Java: RDF 1.1 N-Triples, RFC 3987, BCP 47.

They accept exactly what the parser (rdf/parser.py) accepts. Loops are possessive (`*+`), because backtracking on a long
text could overflow the stack of Java's regular expressions.
"""

from __future__ import annotations

_BEYOND_ASCII = r"\x{A0}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFEF}" + "".join(
    rf"\x{{{plane:X}0000}}-\x{{{plane:X}FFFD}}" for plane in range(1, 14)
) + r"\x{E1000}-\x{EFFFD}"  # fmt: skip
_PRIVATE = r"\x{E000}-\x{F8FF}\x{F0000}-\x{FFFFD}\x{100000}-\x{10FFFD}"
_CHARACTERS = rf"A-Za-z0-9._~!$&'()*+,;={_BEYOND_ASCII}\-"


def _many(more: str) -> str:
    some = f"[{_CHARACTERS}{more}]*+"
    return rf"{some}(?:%[0-9A-Fa-f]{{2}}{some})*+"


_H16 = "[0-9A-Fa-f]{1,4}"
_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_LAST = rf"(?:{_H16}:{_H16}|{_IPV4})"
_IPV6 = "|".join(
    [
        rf"(?:{_H16}:){{6}}{_LAST}",
        *(
            rf"(?:{_H16}(?::{_H16}){{0,{before - 1}}})?::(?:{_H16}:){{{5 - before}}}{_LAST}"
            if before
            else rf"::(?:{_H16}:){{5}}{_LAST}"
            for before in range(6)
        ),
        rf"(?:{_H16}(?::{_H16}){{0,5}})?::{_H16}",
        rf"(?:{_H16}(?::{_H16}){{0,6}})?::",
    ]
)
_HOST = rf"(?:\[(?:{_IPV6}|[vV][0-9A-Fa-f]+\.[{_CHARACTERS}:]+)\]|{_many('')})"
_AUTHORITY = rf"(?:{_many(':')}@)?{_HOST}(?::[0-9]*+)?"
COMMON_IRI = r"^<https?://[A-Za-z0-9._~-]*/[A-Za-z0-9._~:/?@!$&'()+*,;=-]*(?:#[A-Za-z0-9._~:/?@!$&'()+*,;=-]*)?>\z"
"""The form of most IRIs, with their angle brackets; Java recognises it in half of the time."""

IRI = (
    rf"^[A-Za-z][A-Za-z0-9+.\-]*+:(?://{_AUTHORITY}(?:/{_many(':@/')})?|(?!//){_many(':@/')})"
    rf"(?:\?{_many(':@/?' + _PRIVATE)})?(?:#{_many(':@/?')})?\z"
)
"""An IRI, without its angle brackets and without escapes."""

_NAME_START = (
    r"A-Za-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}\x{2070}-\x{218F}"
    r"\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}_0-9"
)
_NAME = rf"{_NAME_START}\x{{B7}}\x{{300}}-\x{{36F}}\x{{203F}}-\x{{2040}}\-"
LABEL = rf"^[{_NAME_START}](?:\.*+[{_NAME}]++)*+\z"
"""The label of a blank node, without `_:`."""

_GRANDFATHERED = (
    "en-GB-oed|i-ami|i-bnn|i-default|i-enochian|i-hak|i-klingon|i-lux|i-mingo|i-navajo|i-pwn|i-tao|i-tay|i-tsu|"
    "sgn-BE-FR|sgn-BE-NL|sgn-CH-DE|art-lojban|cel-gaulish|no-bok|no-nyn|zh-guoyu|zh-hakka|zh-min|zh-min-nan|zh-xiang"
)
_PRIVATE_USE = "[xX](?:-[A-Za-z0-9]{1,8})++"
LANGUAGE = (
    rf"^(?:(?i:{_GRANDFATHERED})|{_PRIVATE_USE}|(?:[A-Za-z]{{2,3}}(?:-[A-Za-z]{{3}}){{0,3}}|[A-Za-z]{{4,8}})"
    r"(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?(?:-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*+"
    rf"(?:-[A-WY-Za-wy-z0-9](?:-[A-Za-z0-9]{{2,8}})++)*+(?:-{_PRIVATE_USE})?)\z"
)

_FOUR = "(?![Dd][89A-Fa-f])[0-9A-Fa-f]{4}"
CODE_POINT = rf"\\u{_FOUR}|\\U(?:0000{_FOUR}|000[1-9A-Fa-f][0-9A-Fa-f]{{4}}|0010[0-9A-Fa-f]{{4}})"
IRI_WITH_ESCAPES = rf"^(?:[^\\]++|{CODE_POINT})*+\z"
LEXICAL = rf"""^(?:[^"\\\n\r]++|\\[tbnrf"'\\]|{CODE_POINT})*+\z"""
"""The text between the quotation marks of a literal."""

_BRACKETED = r"<[^<>\s]*>"
_QUOTED = r'"[^"\\]*+(?:\\[^\n][^"\\]*+)*+"'
TERM = rf'^(?:{_BRACKETED}|_:[^\s<>"]+|{_QUOTED}(?:@[A-Za-z0-9-]+|\^\^{_BRACKETED})?)\z'
"""The bounds of a term and of its parts. The patterns above check the parts."""
