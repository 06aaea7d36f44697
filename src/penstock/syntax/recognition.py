"""Detects the dialect of a query from the syntax in it (dialects.md §8)."""

from __future__ import annotations

from typing import NamedTuple

from penstock.syntax import ast
from penstock.syntax.errors import Problem, QuerySyntaxError
from penstock.syntax.spans import Span
from penstock.syntax.tokens import Tokens

TITLES: dict[ast.DialectName, str] = {
    "rspql": "RSP-QL",
    "csparql": "C-SPARQL",
    "cqels": "CQELS-QL",
    "sparqlstream": "SPARQLstream",
    "streaming-sparql": "Streaming SPARQL",
    "sparql": "SPARQL",
}

_NAMES = frozenset(("iri", "pname", "var"))
_STREAM_WORDS = frozenset(("STREAM", "WINDOW", "AGGREGATE", "COMPUTED", "REGISTER", "RSTREAM", "ISTREAM", "DSTREAM"))
_OPERATORS = frozenset(("RSTREAM", "ISTREAM", "DSTREAM"))


class Clue(NamedTuple):
    """Syntax that only these dialects have; if not `sure`, most likely the first of them."""

    dialects: tuple[ast.DialectName, ...]
    position: int
    sure: bool = True


def recognise(tokens: Tokens) -> ast.DialectName:
    """The dialect of a query; a mixture of two is an error that quotes a piece of each.

    Sure clues narrow down the dialects; the other clues decide among the remaining ones.
    """
    clues = _clues(tokens)
    possible: tuple[ast.DialectName, ...] = ()
    seen: list[Clue] = []
    for clue in clues:
        if not clue.sure:
            continue
        common = tuple(dialect for dialect in possible if dialect in clue.dialects) if seen else clue.dialects
        if not common:
            _reject_mixture(tokens, next(other for other in seen if not set(other.dialects) & set(clue.dialects)), clue)
        possible = common
        seen.append(clue)
    for clue in clues:
        if not clue.sure:
            likely = tuple(dialect for dialect in possible or clue.dialects if dialect in clue.dialects)
            possible = likely or possible
    return possible[0] if possible else "sparql"


def _clues(tokens: Tokens) -> list[Clue]:
    kinds = tokens.kinds
    if _STREAM_WORDS.isdisjoint(kinds):
        timestamps = [i for i, kind in enumerate(kinds) if kind == "TIMESTAMP"]
        return [Clue(("csparql",), i, sure=False) for i in timestamps]
    padded = [*kinds, "eof", "eof", "eof", "eof"]
    found = (_clue(padded, i) for i, kind in enumerate(kinds) if kind in _STREAM_WORDS)
    return [clue for clue in found if clue is not None]


def _clue(kinds: list[str], i: int) -> Clue | None:
    kind, following, before = kinds[i], kinds[i + 1], kinds[i - 1] if i else "eof"
    if kind == "WINDOW":
        if following in ("RANGE", "ELEMS"):
            return Clue(("streaming-sparql",), i)
        is_rspql = following in _NAMES or following in ("ON", "[") or before in ("FROM", "NAMED")
        return Clue(("rspql",), i) if is_rspql else None
    if kind == "STREAM":
        return _stream_clue(kinds, i, before)
    if kind == "AGGREGATE":
        return Clue(("csparql",), i) if following == "{" else None
    if kind == "COMPUTED":
        return Clue(("csparql", "rspql"), i) if following == "EVERY" else None
    if kind == "REGISTER":
        return Clue(("rspql",), i) if following in _OPERATORS else Clue(("csparql", "rspql", "cqels"), i, sure=False)
    if before in ("SELECT", "CONSTRUCT", "ASK", "DESCRIBE"):
        return Clue(("sparqlstream", "rspql"), i, sure=False)
    return None


def _stream_clue(kinds: list[str], i: int, before: str) -> Clue | None:
    if before in ("ON", "REGISTER"):
        return None
    if kinds[i + 1] == "[":
        return Clue(("cqels",), i)
    bracket, window = kinds[i + 2], kinds[i + 3]
    is_bare = kinds[i + 1].isalpha() and kinds[i + 1].isupper() and bracket == "["  # the parser reports what is missing
    if kinds[i + 1] == "<" and before in ("FROM", "NAMED"):  # a broken IRI, which the parser reports
        return Clue(("csparql", "rspql", "sparqlstream"), i, sure=False)
    if kinds[i + 1] not in _NAMES and not is_bare:
        return None
    if before in ("FROM", "NAMED"):
        if bracket == "WINDOW":
            return Clue(("streaming-sparql",), i)
        is_sparqlstream = bracket != "[" or window in ("NOW", "FROM", "TRIPLES")
        return Clue(("sparqlstream",) if is_sparqlstream else ("csparql", "rspql"), i)
    if bracket != "[" or window == "FROM" or (window == "NOW" and kinds[i + 4] != "]"):
        return Clue(("sparqlstream",), i)
    return Clue(("cqels", "sparqlstream") if window in ("NOW", "TRIPLES") else ("cqels",), i)


def _reject_mixture(tokens: Tokens, first: Clue, second: Clue) -> None:
    one, other = (_shown(tokens, clue.position) for clue in (first, second))
    hint = f"write the whole query in one dialect; --dialect {first.dialects[0]} sets the dialect"
    if _reads_from_stream(tokens, first, second):
        hint = (
            "write the whole query in one dialect: in CQELS-QL, STREAM <iri> [RANGE 10s] { … } in WHERE has the window"
        )
    problem = Problem(
        f"`{other}` is {TITLES[second.dialects[0]]}, but `{one}` before it is {TITLES[first.dialects[0]]}",
        _shown_span(tokens, second.position),
        hint,
    )
    raise QuerySyntaxError([problem], tokens.text)


def _reads_from_stream(tokens: Tokens, first: Clue, second: Clue) -> bool:
    """Whether STREAM blocks have no windows but FROM STREAM has one, as in the second version of CQELS."""
    kinds, block = tokens.kinds, second.position
    is_clause = kinds[first.position - 1 : first.position + 1] in (["FROM", "STREAM"], ["NAMED", "STREAM"])
    is_block = kinds[block] == "STREAM" and kinds[block - 1] not in ("FROM", "NAMED")
    return is_clause and is_block and kinds[block + 2 : block + 3] == ["{"]


def _shown_span(tokens: Tokens, position: int) -> Span:
    """The clue with FROM and NAMED before it and, if there is one, the beginning of its window."""
    first, last = position, min(position + 1, len(tokens.kinds) - 2)
    while first and tokens.kinds[first - 1] in ("FROM", "NAMED"):
        first -= 1
    if tokens.kinds[position + 2 : position + 3] == ["["]:
        last = min(position + 3, len(tokens.kinds) - 2)
    return Span(tokens.starts[first], tokens.end(last))


def _shown(tokens: Tokens, position: int) -> str:
    span = _shown_span(tokens, position)
    shown = " ".join(tokens.text[span.start : span.end].split())
    return shown if len(shown) <= 60 else shown[:40] + " … " + shown[-12:]
