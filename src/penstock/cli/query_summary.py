"""A query in a few words: its form, name, streams and windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from penstock.rdf.plurals import counted
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk
from penstock.syntax.printer.durations import compact


@dataclass(frozen=True, slots=True)
class StreamRead:
    """A window over a stream, each as text.

    `stream` is an IRI, or `?x` where the query reads every stream, or None for a window that Streaming SPARQL has
    inside a group. `window` None is the whole stream. `name` is RSP-QL's name of the window.
    """

    stream: str | None
    window: str | None
    name: str | None = None


def form_word(query: ast.Query) -> str:
    """`SELECT`, `CONSTRUCT`, `ASK` or `DESCRIBE`."""
    return type(query.form).__name__.upper()


def registered_name(query: ast.Query) -> str | None:
    return None if query.register is None else _text(query.register.name)


def streams_read(query: ast.Query) -> tuple[StreamRead, ...]:
    """Every window of the query: first those of the FROM clauses, then those inside the pattern."""
    clauses = [clause for clause in query.dataset if isinstance(clause, ast.WindowClause)]
    declared = tuple(
        StreamRead(
            _text(clause.stream), _window_text(clause.window), None if clause.name is None else _text(clause.name)
        )
        for clause in clauses
    )
    return declared + tuple(_streams_of_pattern(query, {read.stream for read in declared}))


def _streams_of_pattern(query: ast.Query, declared: set[str | None]) -> Iterator[StreamRead]:
    for node in walk(query):
        match node:
            case ast.StreamBlock(stream, None) if _text(stream) in declared:
                pass  # reads the window of the FROM clause
            case ast.StreamBlock(stream, window):
                yield StreamRead(_text(stream), _window_text(window))
            case ast.Group(_, window) if window is not None:
                yield StreamRead(None, _window_text(window))


def headline(query: ast.Query) -> str:
    """`SELECT over 1 stream`, `CONSTRUCT ISTREAM over 2 windows on 1 stream`."""
    words = form_word(query) if query.operator is None else f"{form_word(query)} {query.operator.upper()}"
    reads = streams_read(query)
    streams = {read.stream for read in reads if read.stream is not None}
    if not reads:
        return words
    over = "every stream" if any(stream.startswith("?") for stream in streams) else counted(len(streams), "stream")
    return (
        f"{words} over {over}"
        if len(reads) == len(streams)
        else f"{words} over {counted(len(reads), 'window')} on {over}"
    )


def details(query: ast.Query) -> Iterator[str]:
    """A line for the name under which the query is registered, and one for each window."""
    if query.register is not None:
        every = "" if query.register.every is None else f", computed every {compact(query.register.every)}"
        yield f"registered as the {query.register.kind} {_shown(_text(query.register.name))}{every}"
    for read in streams_read(query):
        window = "" if read.window is None else f" [{read.window}]"
        name = "" if read.name is None else f" as {_shown(read.name)}"
        yield f"from {_shown(read.stream)}{window}{name}" if read.stream is not None else f"in a group{window}"


def _window_text(window: ast.Window | None) -> str | None:
    """One spelling for all dialects."""
    match window:
        case None:
            return None
        case ast.RangeWindow(width, None):
            return f"RANGE {compact(width)}"
        case ast.RangeWindow(width, step):
            assert step is not None
            return f"RANGE {compact(width)} STEP {compact(step)}"
        case ast.PastWindow(start, end, step):
            past = f"NOW - {compact(start)} TO NOW" + (f" - {compact(end)}" if end else "")
            return past if step is None else f"{past} STEP {compact(step)}"
        case ast.NowWindow():
            return "NOW"
        case ast.AllWindow():
            return "ALL"
        case ast.CountWindow(size, step):
            return f"ELEMENTS {size}" if step is None else f"ELEMENTS {size} STEP {step}"
    assert_never(window)


def _text(node: ast.Constant | ast.Variable) -> str:
    return f"?{node.name}" if isinstance(node, ast.Variable) else node.term[0]


def _shown(name: str) -> str:
    """An IRI in angle brackets; a variable or a bare name unchanged."""
    return f"<{name}>" if ":" in name else name
