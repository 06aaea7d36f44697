"""The tokenizer: SPARQL 1.1's terminals (grammar rules 139 to 173) as one regular expression.

Tokens are stored as columns, not objects. The kind of a word is the word in upper case (keywords are case-insensitive),
the kind of punctuation is its text, and other tokens have lower-case kinds: `var iri pname bnode int dec dbl str lang
word bad eof` (`word` is a word that is not ASCII and so cannot be a keyword).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from penstock.syntax.spans import Span

_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_START = _BASE + "_"
_NAME = _START + "0-9\u00b7\u0300-\u036f\u203f-\u2040"
_CHARS = _NAME + r"\-"
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_CODEPOINT = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"

_LONGEST_PREFIX = 200
"""The limit for the length of a prefix: without it, `a.a.a.…` takes quadratic time."""

_BYTE_ORDER_MARK = "\ufeff"
"""Some editors write it at the start of a file; the grammar would treat it as a letter."""

VARIABLE = rf"[?$][{_START}0-9][{_NAME}]*"
HYPHENATED_VARIABLE = rf"[?$][{_START}0-9](?:[{_NAME}]|-(?=[{_START}]))*"
"""C-SPARQL's: a hyphen belongs to the name when a letter follows (`?total-sensor`, but not `?x-1` or `?a-?b`)."""


@cache
def _terminals(variable: str) -> re.Pattern[str]:
    return re.compile(
        rf"""
        (?: [ \t\r\n]++ | \#[^\r\n]*+ )*+
        (?: (?P<var>   {variable} )
          | (?P<iri>   <(?:[^<>"{{}}|^`\\\x00-\x20]|{_CODEPOINT})*+> )
          | (?P<pname> (?:[{_BASE}](?:\.*[{_CHARS}]){{0,{_LONGEST_PREFIX}}}+)?:
                       (?:(?:[{_START}0-9:]|{_ESCAPED})(?:\.*(?:[{_CHARS}:]|{_ESCAPED}))*+)? )
          | (?P<bnode> _:[{_START}0-9](?:\.*[{_CHARS}])*+ )
          | (?P<word>  [{_START}][{_NAME}]*+ )
          | (?P<dbl>   (?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)[eE][+-]?[0-9]+ )
          | (?P<dec>   [0-9]*\.[0-9]+ )
          | (?P<int>   [0-9]+ )
          | (?P<str>   \"\"\"(?:"{{0,2}}(?:[^"\\]|\\.))*+\"\"\" | '''(?:'{{0,2}}(?:[^'\\]|\\.))*+'''
                     | "(?!"")(?:[^"\\\r\n]|\\[^\r\n])*+" | '(?!'')(?:[^'\\\r\n]|\\[^\r\n])*+' | \"\"(?!") | ''(?!') )
          | (?P<lang>  @[A-Za-z]+(?:-[A-Za-z0-9]+)* )
          | (?P<punct> \^\^ | && | \|\| | != | <= | >= | [{{}}()\[\].,;=<>+\-*/!|^?&] )
          | (?P<bad>   \"\"\"(?:[^\\]|\\.)* | '''(?:[^\\]|\\.)* | "[^\r\n]* | '[^\r\n]* | . )
          | \Z )
        """,
        re.VERBOSE | re.DOTALL,
    )


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a query text, column by column; the last one is `eof`."""

    text: str
    kinds: list[str]
    texts: list[str]
    starts: list[int]

    def span(self, position: int) -> Span:
        start = self.starts[position]
        return Span(start, start + len(self.texts[position]))

    def end(self, position: int) -> int:
        return self.starts[position] + len(self.texts[position])


def tokenize(text: str, variable: str = VARIABLE) -> Tokens:
    """All tokens of `text`. Invalid characters become tokens of kind `bad`, which the parser reports."""
    kinds: list[str] = []
    texts: list[str] = []
    starts: list[int] = []
    for matched in _terminals(variable).finditer(text, text.startswith(_BYTE_ORDER_MARK)):
        kind = matched.lastgroup
        if kind is None:  # only white space and comments are left
            continue
        token = matched[kind]
        if kind == "word":
            kinds.append(token.upper() if token.isascii() else "word")
        elif kind == "punct":
            kinds.append(token)
        else:
            kinds.append(kind)
        texts.append(token)
        starts.append(matched.start(kind))
    kinds.append("eof")
    starts.append(starts[-1] + len(texts[-1]) if texts else 0)
    texts.append("")
    return Tokens(text, kinds, texts, starts)
