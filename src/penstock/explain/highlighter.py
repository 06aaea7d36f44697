"""Highlights a query as HTML: keywords, variables, IRIs, literals, comments."""

from __future__ import annotations

import re
from html import escape

from penstock.syntax import ast
from penstock.syntax.dialects import DIALECTS
from penstock.syntax.parser.expressions import AGGREGATES, BUILT_INS
from penstock.syntax.tokens import tokenize

_CLASSES = {"var": "v", "iri": "i", "pname": "i", "bnode": "i", "int": "l", "dec": "l", "dbl": "l", "str": "l"}
_KEYWORDS = frozenset(
    "A AGGREGATE ALL AS ASC ASK BASE BIND BY COMPUTED CONSTRUCT DESC DESCRIBE DISTINCT DSTREAM DUPLICATES "
    "ELEMENTS ELEMS EVERY EXISTS FALSE FILTER FIXED FROM GRAPH GROUP HAVING IN ISTREAM LIMIT MATCHING MINUS NAMED "
    "NON_EMPTY_CONTENT NOT NOW OFFSET ON ON_ARRIVAL ON_CONTENT_CHANGE ON_STREAM_END ON_WINDOW_CLOSE OPTIONAL "
    "ORDER ORIGIN PERIODIC PREFIX QUERY RANGE REDUCED REGISTER REPORT RSTREAM SELECT SEPARATOR SERVICE SILENT "
    "SLIDE STEP STREAM TIMESTAMP TO TRIPLES TRUE TUMBLING UNDEF UNION VALUES WHERE WINDOW".split()
)
_WORDS = _KEYWORDS | BUILT_INS | AGGREGATES
_COMMENT = re.compile(r"#[^\r\n]*")


def highlighted(text: str, dialect: ast.DialectName) -> str:
    """The escaped text, with a span around each token: k(eyword), v(ariable), i(ri), l(iteral), c(omment)."""
    tokens = tokenize(text, DIALECTS[dialect].variable)
    parts, position = [], 0
    for kind, token, start in zip(tokens.kinds, tokens.texts, tokens.starts, strict=True):
        parts.append(_COMMENT.sub(lambda found: f'<span class="c">{found[0]}</span>', escape(text[position:start])))
        shown = escape(token)
        classes = _CLASSES.get(kind) or ("k" if kind in _WORDS else None)
        parts.append(f'<span class="{classes}">{shown}</span>' if classes else shown)
        position = start + len(token)
    rest = escape(text[position:])
    return "".join([*parts, _COMMENT.sub(lambda found: f'<span class="c">{found[0]}</span>', rest)])
