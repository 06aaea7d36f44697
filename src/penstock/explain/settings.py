"""The settings of a query and their sources: the query, the user, or the dialect (semantics.md §8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.algebra import ContinuousQuery, Settings
from penstock.algebra.model import StreamWindow
from penstock.algebra.windows import PastWindow, RangeWindow
from penstock.explain.phrases import duplicates_phrase, operator_phrase, report_phrase
from penstock.explain.times import TimeScale
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk
from penstock.syntax.dialects import DIALECTS
from penstock.syntax.printer.reports import report_text
from penstock.syntax.translation.to_rspql import STREAMING_SPARQL_ORIGIN
from penstock.syntax.translation.window_names import windows_of

SettingSource = OneOf["query", "user", "dialect", "default"]


@dataclass(frozen=True, slots=True)
class Setting:
    """`value` as the command line and the table of dialects write it; `words` explains it."""

    name: str
    value: str
    words: str
    said_by: SettingSource


@dataclass(frozen=True, slots=True)
class SettingSources:
    """The source of each property of a window."""

    window: SettingSource
    report: SettingSource
    origin: SettingSource
    duplicates: SettingSource


def setting_sources(query: ast.Query, windows: Sequence[StreamWindow], user: Settings) -> list[SettingSources]:
    """For each window of the explicit query."""
    clauses = windows_of(query) if query.dialect == "rspql" else ()
    if len(clauses) == len(windows) and clauses:
        says_report = any(clause.settings.report is not None for clause in clauses)
        return [_rspql_sources(clause.settings, says_report, user) for clause in clauses]
    every = query.register.every if query.register is not None else None
    return [_sources(query, window, every is not None, user) for window in windows]


def _rspql_sources(said: ast.WindowSettings, says_report: bool, user: Settings) -> SettingSources:
    return SettingSources(
        window="query",
        report="user" if user.report is not None else "query" if says_report else "dialect",
        origin="query" if said.origin is not None else _origin_by_user(user),
        duplicates="user" if user.duplicates is not None else "query" if said.duplicates is not None else "dialect",
    )


def _sources(query: ast.Query, window: StreamWindow, has_period: bool, user: Settings) -> SettingSources:
    by_default_window = query.dialect == "sparql" or (
        query.dialect == "sparqlstream"
        and any(clause.window is None and _stream(clause) == window.stream for clause in windows_of(query))
    )
    is_dialects_origin = window.origin == STREAMING_SPARQL_ORIGIN and query.dialect == "streaming-sparql"
    return SettingSources(
        window="dialect" if by_default_window else "query",
        report="user" if user.report is not None else "query" if has_period else "dialect",
        origin="dialect" if is_dialects_origin else _origin_by_user(user),
        duplicates="user" if user.duplicates is not None else "dialect",
    )


def _stream(clause: ast.WindowClause) -> str | None:
    return clause.stream.text if isinstance(clause.stream, ast.Constant) else None


def _origin_by_user(user: Settings) -> SettingSource:
    return "default" if user.origin == 0 else "user"


def query_settings(
    query: ast.Query,
    continuous: ContinuousQuery,
    labels: Sequence[str],
    sources: Sequence[SettingSources],
    user: Settings,
    scale: TimeScale,
    *,
    dialect_said_by_user: bool,
    lateness: int,
    evaluated_by: str | None,
    way: str,
) -> tuple[Setting, ...]:
    """All settings of the query, in the order in which they take effect."""
    windows = continuous.dataset.windows
    reports = [window.report for window in windows if window.report is not None]
    operator_by: SettingSource = (
        "user" if user.operator is not None else "query" if query.operator is not None else "dialect"
    )
    return (
        _dialect_setting(query, dialect_said_by_user),
        *_report_setting(windows, labels, sources, scale),
        Setting("operator", continuous.operator, operator_phrase(continuous.operator, reports), operator_by),
        *_duplicates_setting(windows, sources),
        *_origin_setting(windows, sources, user, scale),
        _lateness_setting(lateness, scale),
        *_evaluator_setting(evaluated_by, way),
    )


def _dialect_setting(query: ast.Query, is_said_by_user: bool) -> Setting:
    title = DIALECTS[query.dialect].title
    return Setting(
        "dialect",
        query.dialect,
        title if is_said_by_user else f"{title}, recognised by its syntax",
        "user" if is_said_by_user else "query",
    )


def _report_setting(
    windows: Sequence[StreamWindow], labels: Sequence[str], sources: Sequence[SettingSources], scale: TimeScale
) -> list[Setting]:
    reporting = [entry for entry in zip(windows, labels, sources, strict=True) if entry[0].report is not None]
    if not reporting:
        return []
    reports = {window.report for window, _, _ in reporting if window.report is not None}
    said_by = _common([said.report for _, _, said in reporting])
    if len(reports) > 1:
        return [
            Setting(
                "report",
                "differs",
                "each window has its own policy; one of them is enough",
                said_by,
            )
        ]
    report = reports.pop()
    if len(reporting) == len(windows):
        which = "the window" if len(windows) == 1 else "a window"
    else:
        shown = [label if label.startswith("window") else f"window {label}" for _, label, _ in reporting]
        which = " or ".join(shown)
    words = f"evaluated whenever {report_phrase(report, which, scale)}"
    return [Setting("report", report_text(report, "option"), words, said_by)]


def _duplicates_setting(windows: Sequence[StreamWindow], sources: Sequence[SettingSources]) -> list[Setting]:
    kinds = {window.duplicates for window in windows}
    if not kinds:
        return []
    said_by = _common([said.duplicates for said in sources])
    if len(kinds) > 1:
        return [Setting("duplicates", "differs", "each window has its own", said_by)]
    kind = kinds.pop()
    return [Setting("duplicates", kind, duplicates_phrase(kind), said_by)]


def _origin_setting(
    windows: Sequence[StreamWindow], sources: Sequence[SettingSources], user: Settings, scale: TimeScale
) -> list[Setting]:
    pairs = list(dict.fromkeys((window.origin, said.origin) for window, said in zip(windows, sources, strict=True)))
    if not pairs:
        return []
    if ("dialect" in {said for _, said in pairs}) and len(pairs) <= 2:
        return [Setting("t0", str(STREAMING_SPARQL_ORIGIN), "windows begin at the multiples of their slide", "dialect")]
    if len(pairs) > 1:
        shown = ", ".join(scale.instant(window.origin) for window in windows)
        return [Setting("t0", shown, "where the first window opens, for each window", _common([s for _, s in pairs]))]
    origin, said_by = pairs[0]
    if not any(_depends_on_origin(window) for window in windows):
        return [Setting("t0", scale.instant(origin), "this query does not depend on it", said_by)]
    first = ", one before the first element" if user.origin == "first" else ""
    return [Setting("t0", scale.instant(origin), f"where the first window opens{first}", said_by)]


def _depends_on_origin(window: StreamWindow) -> bool:
    strategies = [] if window.report is None else [n for n in walk(window.report) if isinstance(n, ast.Strategy)]
    is_periodic = any(strategy.name == "periodic" for strategy in strategies)
    return is_periodic or (isinstance(window.window, RangeWindow | PastWindow) and window.window.step is not None)


def _lateness_setting(lateness: int, scale: TimeScale) -> Setting:
    if lateness == 0:
        return Setting("lateness", "0", "elements arrive in the order of their timestamps", "default")
    bound = scale.duration(lateness)
    return Setting("lateness", bound, f"elements may arrive up to {bound} out of order", "user")


def _common(said: Sequence[SettingSource]) -> SettingSource:
    """The source of a setting of several windows: the one closest to the user."""
    order: tuple[SettingSource, ...] = ("user", "query", "dialect", "default")
    return next(who for who in order if who in said)


def _evaluator_setting(evaluated_by: str | None, way: str) -> list[Setting]:
    if evaluated_by is None:
        return []
    return [Setting("evaluated_by", evaluated_by, f"the latest run: {way}", "default")]
