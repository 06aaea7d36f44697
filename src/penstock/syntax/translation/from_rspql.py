"""Translates explicit RSP-QL to each dialect, as far as the dialect can express it. One function per dialect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk
from penstock.syntax.dialects import DIALECTS, NON_EMPTY
from penstock.syntax.printer.durations import compact
from penstock.syntax.translation.aggregates import fold_aggregates
from penstock.syntax.translation.element_graphs import reads_elements, rewrite_around
from penstock.syntax.translation.group_windows import fold_group_windows
from penstock.syntax.translation.hidden_windows import is_seen_by_variable, unhide
from penstock.syntax.translation.obstacles import (
    Obstacles,
    require_default_origin,
    require_plain_template,
    require_settings,
    same_report,
    shown,
    without_settings,
)
from penstock.syntax.translation.stream_patterns import has_paths, in_stream_blocks
from penstock.syntax.translation.to_rspql import STREAMING_SPARQL_ORIGIN
from penstock.syntax.translation.window_names import graphs_read, streams_read_by_name, unread_windows, windows_of

__all__ = ["FROM_RSPQL", "Obstacles"]

Clause = ast.DatasetClause | ast.WindowClause


def _to_rspql(query: ast.Query, obstacles: Obstacles) -> ast.Query:
    """Omits the defaults of RSP-QL."""
    default = DIALECTS["rspql"]
    windows = windows_of(query)
    reports_as_usual = all(window.settings.report == default.report for window in windows)

    def shorten(clause: Clause) -> Clause:
        if isinstance(clause, ast.DatasetClause):
            return clause
        report = None if reports_as_usual else clause.settings.report
        duplicates = None if clause.settings.duplicates == default.duplicates else clause.settings.duplicates
        return replace(clause, settings=replace(clause.settings, report=report, duplicates=duplicates))

    registers_stream = query.register is not None and query.register.kind == "stream"
    operator = query.operator if registers_stream or query.operator != default.operator else None
    return replace(query, dataset=tuple(shorten(clause) for clause in query.dataset), operator=operator)


def _to_csparql(query: ast.Query, obstacles: Obstacles) -> ast.Query:
    query = unhide(query)
    every = _common_period(query)
    report = ast.AllOf((ast.Strategy("periodic", every), NON_EMPTY)) if every is not None else None
    require_settings(query, "csparql", obstacles, report)
    require_default_origin(query, obstacles)
    require_plain_template(query, obstacles)
    _require_one_window_per_stream(query, obstacles)
    query = _read_as_graphs(query, obstacles, ranges_over_streams=True)

    def lower(clause: Clause) -> Clause:
        if isinstance(clause, ast.DatasetClause):
            return clause
        return replace(without_settings(clause), window=_range_or_count(clause, obstacles))

    register = query.register
    if every is not None:
        register = replace(register or ast.Register("query", ast.Constant(IRI("Query"))), every=every)
    dataset = tuple(lower(clause) for clause in query.dataset)
    return fold_aggregates(replace(query, dialect="csparql", dataset=dataset, register=register, operator=None))


def _common_period(query: ast.Query) -> int | None:
    """The period p, if the policy of every window is `periodic p & non-empty`."""
    reports = [window.settings.report for window in windows_of(query)]
    first = reports[0] if reports else None
    if not isinstance(first, ast.AllOf) or any(r is None or not same_report(r, first) for r in reports):
        return None
    periods = [r.period for r in first.reports if isinstance(r, ast.Strategy) and r.name == "periodic"]
    return periods[0] if len(first.reports) == 2 and NON_EMPTY in first.reports and len(periods) == 1 else None


def _range_or_count(clause: ast.WindowClause, obstacles: Obstacles) -> ast.Window | None:
    """C-SPARQL's windows: RANGE … STEP …, and TRIPLES n."""
    window = clause.window
    if isinstance(window, ast.RangeWindow) or (isinstance(window, ast.CountWindow) and _is_plain_count(window)):
        return window
    if isinstance(window, ast.PastWindow) and window.end == 0 and window.step is not None:
        obstacles.differs(
            "a window FROM NOW - a TO NOW (its RANGE/STEP closes first when a whole range has passed since the origin)"
        )
        return ast.RangeWindow(window.start, window.step)
    if isinstance(window, ast.PastWindow) and window.end == 0:
        step = min(_USUAL_STEP, window.start)
        moved = f"RANGE {compact(window.start)} STEP {compact(step)}"
        obstacles.differs(f"{_kind(window)} (it has {moved}, which moves once a step)")
        return ast.RangeWindow(window.start, step)
    if isinstance(window, ast.NowWindow):
        obstacles.differs("a window NOW (it has RANGE 1ms TUMBLING, the millisecond up to each instant)")
        return ast.RangeWindow(1, 1)
    obstacles.blocks(_kind(window))
    return window


_USUAL_STEP = 1000
"""In ms; of a window that has none, in a dialect that needs one."""


def _is_plain_count(window: ast.CountWindow) -> bool:
    return window.step is None and not window.matching


def _kind(window: ast.Window | None) -> str:
    match window:
        case ast.RangeWindow(step=None) | ast.PastWindow(end=0, step=None):
            return "a window that slides with every instant"
        case ast.RangeWindow():
            return "a window RANGE … STEP …"
        case ast.PastWindow():
            return "a window FROM NOW - a TO NOW - b"
        case ast.NowWindow():
            return "a window NOW"
        case ast.CountWindow(matching=True):
            return "a window that counts the matches of each pattern"
        case ast.CountWindow(step=int()):
            return "a counting window with STEP"
        case ast.CountWindow():
            return "a counting window"
        case _:
            return "a window over the whole stream"


def _require_one_window_per_stream(query: ast.Query, obstacles: Obstacles) -> None:
    seen: set[ast.Constant | ast.Variable] = set()
    for window in windows_of(query):
        if isinstance(window.stream, ast.Variable):
            obstacles.blocks("a window over all bound streams")
        elif window.stream in seen:
            obstacles.blocks(f"several windows over one stream ({window.stream.term})")
        seen.add(window.stream)


def _read_as_graphs(query: ast.Query, obstacles: Obstacles, *, ranges_over_streams: bool) -> ast.Query:
    """WINDOW blocks as GRAPH blocks that name the stream instead of its window.

    `ranges_over_streams`: in the target GRAPH also reaches the streams of the default graph.
    """
    if reads_elements(query):
        obstacles.blocks("GRAPH inside of a window (the named graphs of its elements)")
    windows = {window.name: window for window in windows_of(query) if window.name is not None}
    nameless = {window.stream for window in windows_of(query) if window.name is None}

    def change(node: ast.Node) -> ast.Node:
        if not isinstance(node, (ast.WindowBlock, ast.Graph)):
            return node
        if isinstance(node.name, ast.Variable):
            if any(window.name != window.stream for window in windows.values()):
                obstacles.blocks(f"the variable ?{node.name.name} over window names (there it takes streams' IRIs)")
            if isinstance(node, ast.WindowBlock):
                obstacles.differs(f"WINDOW ?{node.name.name} (GRAPH also ranges over the named graphs)")
            elif nameless and ranges_over_streams:
                obstacles.differs(f"GRAPH ?{node.name.name} without the streams (there it ranges over them too)")
            elif not ranges_over_streams and any(not window.named for window in windows.values()):
                obstacles.differs(f"GRAPH ?{node.name.name} over the streams of the default graph")
            return ast.Graph(node.name, node.pattern, span=node.span)
        if ranges_over_streams and node.name in nameless and isinstance(node, ast.Graph):
            obstacles.differs(f"a graph of the name of a stream, {node.name.term} (there it is the stream)")
        window = windows.get(node.name)
        if window is None or not isinstance(window.stream, ast.Constant):
            return node
        if isinstance(node, ast.WindowBlock) and not window.named:
            obstacles.differs(f"reading {shown(window)} alone (GRAPH also sees the default graph)")
        elif not window.named and not ranges_over_streams:
            obstacles.blocks(f"GRAPH {shown(window)}, a window of the default graph")
        return ast.Graph(window.stream, node.pattern, span=node.span)

    return rewrite_around(query, change)


def _to_cqels(query: ast.Query, obstacles: Obstacles) -> ast.Query:
    query = unhide(query)
    require_settings(query, "cqels", obstacles)
    require_default_origin(query, obstacles)
    require_plain_template(query, obstacles)
    windows = {}
    in_default = [window for window in windows_of(query) if not window.named or window.name is None]
    for window in windows_of(query):
        if window.named and window.name is not None:
            windows[window.name] = replace(window, window=_cqels_window(window, obstacles))
    if in_default:
        query = _in_blocks(query, in_default, obstacles)

    for window in unread_windows(query):
        obstacles.differs(f"a window that nothing reads ({shown(window)}), and the evaluations that it causes")

    def change(node: ast.Node) -> ast.Node:
        if isinstance(node, ast.WindowBlock) and isinstance(node.name, ast.Variable):
            obstacles.blocks(f"WINDOW ?{node.name.name}")
        if isinstance(node, (ast.WindowBlock, ast.Graph)) and node.name in windows:
            window = windows[node.name]
            return ast.StreamBlock(window.stream, window.window, node.pattern, span=node.span)
        return node

    return replace(rewrite_around(query, change), dialect="cqels", dataset=_graphs(query), operator=None)


def _in_blocks(query: ast.Query, streams: list[ast.WindowClause], obstacles: Obstacles) -> ast.Query:
    """Moves the patterns over streams of the default graph to STREAM blocks."""
    lowered = []
    for window in streams:
        if isinstance(window.stream, ast.Variable):
            obstacles.blocks(f"a window in the default graph ({shown(window)}): streams are read in STREAM blocks only")
        lowered.append(replace(window, window=_cqels_window(window, obstacles)))
    names = {window.name for window in streams if window.name is not None}

    def change(node: ast.Node) -> ast.Node:
        if not isinstance(node, ast.Graph):
            return node
        if isinstance(node.name, ast.Variable) and names:
            obstacles.differs(f"GRAPH ?{node.name.name} over the streams of the default graph")
        return node.pattern if node.name in names else node

    has_graph = any(isinstance(clause, ast.DatasetClause) and not clause.named for clause in query.dataset)
    if has_graph or len(streams) > 1:
        named = " and ".join(shown(window) for window in streams)
        obstacles.differs(
            f"{named} merged into the default graph (each pattern is asked of each stream and of the graph by itself, "
            "so a triple that is in two of them counts twice)"
        )
        if has_paths(query):
            obstacles.differs("a property path from one stream or graph into another")
    else:
        obstacles.differs(
            f"{shown(streams[0])} as part of the default graph (its patterns are in STREAM blocks, which do not read "
            "the default graph beside it)"
        )
    return in_stream_blocks(rewrite_around(query, change), lowered, has_graph=has_graph)


def _cqels_window(clause: ast.WindowClause, obstacles: Obstacles) -> ast.Window | None:
    window = clause.window
    match window:
        case ast.PastWindow(start=start, end=0, step=None):
            return ast.RangeWindow(start, None)
        case ast.RangeWindow() | ast.NowWindow() | ast.AllWindow():
            return window
        case ast.CountWindow() if _is_plain_count(window):
            return window
    obstacles.blocks(_kind(window))
    return window


def _graphs(query: ast.Query) -> tuple[ast.DatasetClause, ...]:
    return tuple(clause for clause in query.dataset if isinstance(clause, ast.DatasetClause))


def _to_sparqlstream(query: ast.Query, obstacles: Obstacles) -> ast.Query:
    require_settings(query, "sparqlstream", obstacles)
    require_default_origin(query, obstacles)
    require_plain_template(query, obstacles)
    if query.register is not None:
        obstacles.differs("REGISTER (the query loses its name)")
    by_name = {window.name: window for window in windows_of(query) if window.name is not None}
    inline = {name: window for name, window in by_name.items() if name != window.stream}
    declared = {window.stream for window in windows_of(query) if not (window.named and window.name in inline)}

    merged = {name for name, window in by_name.items() if not window.named}
    if merged and is_seen_by_variable(query, ast.Graph):
        obstacles.blocks("GRAPH over a window of the default graph")
    if inline and is_seen_by_variable(query, ast.WindowBlock):
        obstacles.blocks("WINDOW with a variable over windows with names of their own")
    query = unhide(query)

    def change(node: ast.Node) -> ast.Node:
        if isinstance(node, ast.Graph) and node.name in merged:
            obstacles.blocks("GRAPH over a window of the default graph")
        if isinstance(node, (ast.WindowBlock, ast.Graph)) and node.name in inline:
            window = inline[node.name]
            lowered = _sparqlstream_window(window, obstacles)
            if lowered is None and (
                window.stream in declared or (declared and isinstance(window.stream, ast.Variable))
            ):
                obstacles.blocks("a window over the whole stream beside another one")
            return ast.StreamBlock(window.stream, lowered, node.pattern, span=node.span)
        if isinstance(node, ast.WindowBlock):
            return ast.StreamBlock(node.name, None, node.pattern, span=node.span)
        return node

    dataset: list[Clause] = []
    for clause in query.dataset:
        if isinstance(clause, ast.DatasetClause):
            dataset.append(clause)
        elif not (clause.named and clause.name in inline):
            if isinstance(clause.stream, ast.Variable):
                obstacles.blocks("a window over all bound streams")
            dataset.append(replace(without_settings(clause), window=_sparqlstream_window(clause, obstacles)))
    lowered_query = rewrite_around(query, change)
    operator = None if query.operator == DIALECTS["sparqlstream"].operator else query.operator
    lowered_query = replace(
        lowered_query, dialect="sparqlstream", dataset=tuple(dataset), operator=operator, register=None
    )
    named_there = streams_read_by_name(lowered_query)
    for window in unread_windows(query):
        if window.name in inline or window.stream not in named_there:  # plain patterns would read it
            obstacles.blocks(f"a window that nothing reads ({shown(window)})")
    return lowered_query


def _sparqlstream_window(clause: ast.WindowClause, obstacles: Obstacles) -> ast.Window | None:
    """NOW - a TO NOW - b SLIDE s, TRIPLES n, and, for the whole stream, nothing."""
    window = clause.window
    match window:
        case ast.AllWindow():
            return None
        case ast.PastWindow() | ast.NowWindow():
            return window
        case ast.CountWindow() if _is_plain_count(window):
            return window
        case ast.RangeWindow(width=width, step=int() as step):
            obstacles.differs(
                "a window RANGE … STEP … (its NOW - a TO NOW also closes before a whole range has passed)"
            )
            return ast.PastWindow(width, 0, step)
    obstacles.blocks(_kind(window))
    return window


def _to_streaming_sparql(query: ast.Query, obstacles: Obstacles) -> ast.Query:
    query = unhide(query)
    require_settings(query, "streaming-sparql", obstacles)
    require_plain_template(query, obstacles)
    if query.register is not None:
        obstacles.differs("REGISTER (the query loses its name)")
    in_default = {window.stream for window in windows_of(query) if not window.named}
    read = graphs_read(query)
    in_groups: dict[ast.Constant, ast.Window] = {}
    kept: list[Clause] = []
    dataset: list[Clause] = []
    for clause in query.dataset:
        if isinstance(clause, ast.DatasetClause):
            kept.append(clause)
            dataset.append(clause)
            continue
        is_in_group = clause.named and clause.stream in in_default and clause.name not in read
        lowered = _streaming_sparql_window(clause, is_in_group, obstacles)
        if is_in_group and clause.name is not None:
            in_groups[clause.name] = lowered
        else:
            kept.append(clause)
            dataset.append(replace(without_settings(clause), window=lowered))
    if in_groups and len(in_default) > 1:
        obstacles.blocks("several windows over one stream, beside a second stream")
    folded = fold_group_windows(query, in_groups) if in_groups else query
    folded = replace(folded, dataset=tuple(kept))
    _require_one_window_per_stream(folded, obstacles)
    folded = _read_as_graphs(folded, obstacles, ranges_over_streams=False)
    return replace(folded, dialect="streaming-sparql", dataset=tuple(dataset), operator=None, register=None)


def _streaming_sparql_window(clause: ast.WindowClause, is_in_group: bool, obstacles: Obstacles) -> ast.Window:
    window = clause.window
    match window:
        case ast.RangeWindow(width=width, step=int() as step) if step <= width:
            if clause.settings.origin != STREAMING_SPARQL_ORIGIN:
                obstacles.differs("windows that end at the multiples of their step (its windows begin there)")
            return window
        case ast.CountWindow(step=None):
            if window.matching and not is_in_group:
                obstacles.blocks(_kind(window))
            if is_in_group and not window.matching:
                obstacles.differs("a counting window over the stream (inside a group it counts each pattern's matches)")
            return replace(window, matching=False)
    obstacles.blocks(_kind(window))
    return window or ast.AllWindow()


def _to_sparql(query: ast.Query, obstacles: Obstacles) -> ast.Query:
    query = unhide(query)
    require_settings(query, "sparql", obstacles)
    require_default_origin(query, obstacles)
    require_plain_template(query, obstacles)
    if query.register is not None:
        obstacles.differs("REGISTER (the query loses its name)")
    for window in windows_of(query):
        if not isinstance(window.window, ast.AllWindow):
            obstacles.blocks(_kind(window.window))
        if window.named:
            obstacles.blocks(f"a window that is read by name ({shown(window)})")
        elif isinstance(window.stream, ast.Constant):
            obstacles.differs(f"which stream is read (bind it with --stream {window.stream.text}=…)")
    if not windows_of(query):
        obstacles.differs("a query that reads no stream (its default graph holds every bound stream)")
    if any(isinstance(node, ast.Call) and node.name == "TIMESTAMP" for node in walk(query)):
        obstacles.blocks("timestamp()")
    return replace(query, dialect="sparql", dataset=_graphs(query), operator=None, register=None)


FROM_RSPQL: dict[ast.DialectName, Callable[[ast.Query, Obstacles], ast.Query]] = {
    "rspql": _to_rspql,
    "csparql": _to_csparql,
    "cqels": _to_cqels,
    "sparqlstream": _to_sparqlstream,
    "streaming-sparql": _to_streaming_sparql,
    "sparql": _to_sparql,
}
