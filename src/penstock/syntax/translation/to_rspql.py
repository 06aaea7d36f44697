"""Translates each dialect to explicit RSP-QL (semantics.md §8).

In the explicit form each window states its set or bag content and, if it triggers evaluations, its report policy; the
query states its streaming operator. One function per dialect.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.syntax import ast
from penstock.syntax.ast.traversal import WITHOUT_GROUPS, rewrite, walk
from penstock.syntax.dialects import DIALECTS, NON_EMPTY
from penstock.syntax.translation.aggregates import expand_aggregates
from penstock.syntax.translation.element_graphs import has_graph
from penstock.syntax.translation.group_windows import expand_group_windows
from penstock.syntax.translation.hidden_windows import hide
from penstock.syntax.translation.window_names import WindowNames, graphs_read, streams_read_by_name, windows_of

STREAMING_SPARQL_ORIGIN = -1
"""Streaming SPARQL's `[ts, ⌊ts/δ⌋·δ + w)` is RANGE w STEP δ with this origin: windows begin at the multiples of δ."""


def explicit(query: ast.Query) -> ast.Query:
    """The query in RSP-QL, with all defaults of its dialect made explicit."""
    dialect = DIALECTS[query.dialect]
    written = _TO_RSPQL[query.dialect](_with_template(query))
    return _with_stream_variables(replace(written, dialect="rspql", operator=query.operator or dialect.operator))


def _with_stream_variables(query: ast.Query) -> ast.Query:
    """A window over any stream binds the variable of the stream, so each block that reads it does."""
    streams: dict[ast.Variable | ast.Constant, ast.Variable] = {
        window.name: window.stream
        for window in windows_of(query)
        if window.name is not None and isinstance(window.stream, ast.Variable)
    }

    def change(node: ast.Node) -> ast.Node:
        return replace(node, stream=streams.get(node.name)) if isinstance(node, ast.WindowBlock) else node

    return rewrite(query, change, beside=WITHOUT_GROUPS) if streams else query


def _with_template(query: ast.Query) -> ast.Query:
    """Adds the implied template of CONSTRUCT WHERE { … }, because translation changes the pattern."""
    if not isinstance(query.form, ast.Construct) or query.form.template is not None or query.where is None:
        return query
    template = tuple(element for element in query.where.elements if isinstance(element, ast.Triples))
    return replace(query, form=replace(query.form, template=template))


def _settings(query: ast.Query, report: ast.Report | None = None, origin: int | None = None) -> ast.WindowSettings:
    dialect = DIALECTS[query.dialect]
    return ast.WindowSettings(report or dialect.report, origin, dialect.duplicates)


def _from_rspql(query: ast.Query) -> ast.Query:
    """If any window has a REPORT, windows without one do not trigger evaluations.

    COMPUTED EVERY is the policy of the windows without REPORT, as in C-SPARQL.
    """
    dialect = DIALECTS["rspql"]
    says_report = any(window.settings.report is not None for window in windows_of(query))
    implied = None if says_report else dialect.report
    register = query.register
    if register is not None and register.every is not None:
        implied = _computed_every(register.every)
        register = replace(register, every=None)

    def spell_out(clause: ast.DatasetClause | ast.WindowClause) -> ast.DatasetClause | ast.WindowClause:
        if isinstance(clause, ast.DatasetClause):
            return clause
        settings = clause.settings
        duplicates = settings.duplicates or dialect.duplicates
        return replace(clause, settings=replace(settings, report=settings.report or implied, duplicates=duplicates))

    return replace(query, dataset=tuple(spell_out(clause) for clause in query.dataset), register=register)


def _computed_every(period: int) -> ast.Report:
    return ast.AllOf((ast.Strategy("periodic", period), NON_EMPTY))


def _from_csparql(query: ast.Query) -> ast.Query:
    """FROM STREAM is a window of the default graph; GRAPH reads it by the IRI of the stream.

    GRAPH inside of GRAPH reads the graphs of the dataset; inside of WINDOW it would read elements.
    """
    register = query.register
    every = register.every if register is not None else None
    report = _computed_every(every) if every is not None else None
    read = graphs_read(query)

    def spell_out(clause: ast.DatasetClause | ast.WindowClause) -> ast.DatasetClause | ast.WindowClause:
        if isinstance(clause, ast.DatasetClause):
            return clause
        stream = clause.stream
        is_read = any(isinstance(name, ast.Variable) or name == stream for name in read)
        name = stream if isinstance(stream, ast.Constant) and (clause.named or is_read) else None
        return replace(clause, name=name, settings=_settings(query, report))

    named = {window.stream for window in windows_of(query) if window.named}

    def change(node: ast.Node) -> ast.Node:
        if isinstance(node, ast.Graph) and node.name in named and not has_graph(node):
            return ast.WindowBlock(node.name, node.pattern, span=node.span)
        return node

    dataset = tuple(spell_out(clause) for clause in query.dataset)
    register = replace(register, every=None) if register is not None else None
    written = replace(rewrite(query, change, beside=WITHOUT_GROUPS), dataset=dataset, register=register)
    return expand_aggregates(written)


def _from_cqels(query: ast.Query) -> ast.Query:
    """Each STREAM block reads its own window; blocks with the same stream and window share one."""
    blocks = _BlockWindows(query)
    written = hide(rewrite(query, blocks.change, beside=WITHOUT_GROUPS), blocks.names_given)
    return replace(written, dataset=(*query.dataset, *blocks.clauses))


def _from_sparqlstream(query: ast.Query) -> ast.Query:
    """FROM STREAM is a window of the default graph, and so is FROM NAMED STREAM unless a block reads it by name.

    A missing window means ALL.
    """
    blocks = _BlockWindows(query)
    read = {
        node.stream for node in walk(query) if isinstance(node, ast.StreamBlock) and node.window is None
    }  # fmt: skip
    any_read = any(isinstance(stream, ast.Variable) for stream in read)
    declared = {window.stream for window in windows_of(query)}
    by_name = streams_read_by_name(query)

    def spell_out(clause: ast.DatasetClause | ast.WindowClause) -> ast.DatasetClause | ast.WindowClause:
        if isinstance(clause, ast.DatasetClause):
            return clause
        stream = clause.stream
        named = clause.named and stream in by_name
        goes_by_name = named or any_read or stream in read
        name = stream if isinstance(stream, ast.Constant) and goes_by_name else None
        window = clause.window or ast.AllWindow()
        return replace(clause, named=named, name=name, window=window, settings=_settings(query))

    def change(node: ast.Node) -> ast.Node:
        if not isinstance(node, ast.StreamBlock) or node.window is not None:
            return blocks.change(node)
        if node.stream in declared or (declared and isinstance(node.stream, ast.Variable)):
            return ast.WindowBlock(node.stream, node.pattern, span=node.span)
        return blocks.change(node)

    dataset = tuple(spell_out(clause) for clause in query.dataset)
    unnamed = [c.name for c in dataset if isinstance(c, ast.WindowClause) and not c.named and c.name is not None]
    written = rewrite(query, change, beside=WITHOUT_GROUPS)
    written = hide(written, [*unnamed, *blocks.names_given], blocks.names_given)
    return replace(written, dataset=(*dataset, *blocks.clauses))


def _from_streaming_sparql(query: ast.Query) -> ast.Query:
    """FROM STREAM is a window of the default graph; a window inside a group becomes a WINDOW block."""

    def spell_out(clause: ast.WindowClause) -> ast.WindowClause:
        origin = STREAMING_SPARQL_ORIGIN if isinstance(clause.window, ast.RangeWindow) else None
        return replace(clause, settings=_settings(query, origin=origin))

    expanded = expand_group_windows(query)
    expanded = hide(expanded, [w.name for w in windows_of(expanded) if w.name is not None])
    dataset = []
    for clause in expanded.dataset:
        if isinstance(clause, ast.WindowClause):
            stream = clause.stream
            if clause.name is None and isinstance(stream, ast.Constant) and clause.named:
                clause = replace(clause, name=stream)
            clause = spell_out(clause)
        dataset.append(clause)
    return replace(expanded, dataset=tuple(dataset))


def _from_sparql(query: ast.Query) -> ast.Query:
    """All bound streams, from their start, are part of the default graph."""
    taken = {node.name for node in walk(query) if isinstance(node, ast.Variable)}
    name = "stream"
    while name in taken:
        name += "_"
    window = ast.WindowClause(ast.Variable(name), ast.AllWindow(), settings=_settings(query))
    return replace(query, dataset=(*query.dataset, window))


class _BlockWindows:
    """Turns STREAM blocks into WINDOW blocks and collects the windows that they need."""

    def __init__(self, query: ast.Query) -> None:
        self.query = query
        self.names = WindowNames(query)
        self.clauses: list[ast.WindowClause] = []

    @property
    def names_given(self) -> list[ast.Constant]:
        return [clause.name for clause in self.clauses if clause.name is not None]

    def change(self, node: ast.Node) -> ast.Node:
        if not isinstance(node, ast.StreamBlock):
            return node
        name = self._window_name(node.stream, _sliding_as_past(node.window or ast.AllWindow()))
        return ast.WindowBlock(name, node.pattern, span=node.span)

    def _window_name(self, stream: ast.Constant | ast.Variable, window: ast.Window) -> ast.Constant:
        for clause in self.clauses:
            if clause.stream == stream and clause.window == window and clause.name is not None:
                return clause.name
        name = self.names.name(stream)
        self.clauses.append(ast.WindowClause(stream, window, True, name, _settings(self.query)))
        return name


def _sliding_as_past(window: ast.Window) -> ast.Window:
    """CQELS's RANGE without a slide contains the timestamps in `(t - width, t]`: RSP-QL's FROM NOW-width TO NOW."""
    if isinstance(window, ast.RangeWindow) and window.step is None:
        return ast.PastWindow(window.width, 0, span=window.span)
    return window


_TO_RSPQL: dict[ast.DialectName, Callable[[ast.Query], ast.Query]] = {
    "rspql": _from_rspql,
    "csparql": _from_csparql,
    "cqels": _from_cqels,
    "sparqlstream": _from_sparqlstream,
    "streaming-sparql": _from_streaming_sparql,
    "sparql": _from_sparql,
}
