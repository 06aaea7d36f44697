"""Report policies (semantics.md §5), in the syntax of RSP-QL's REPORT and of the command line option `--report`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.syntax import ast
from penstock.syntax.ast.reports import StrategyName
from penstock.syntax.printer import durations

SpellingName = OneOf["rspql", "option"]


@dataclass(frozen=True, slots=True)
class _Spelling:
    names: dict[StrategyName, str]
    duration: Callable[[int], str]


_SPELLINGS: dict[SpellingName, _Spelling] = {
    "rspql": _Spelling(
        {
            "window-close": "ON_WINDOW_CLOSE",
            "non-empty": "NON_EMPTY_CONTENT",
            "content-change": "ON_CONTENT_CHANGE",
            "arrival": "ON_ARRIVAL",
            "periodic": "PERIODIC",
            "stream-end": "ON_STREAM_END",
        },
        durations.iso_8601,
    ),
    "option": _Spelling(
        {
            "window-close": "window-close",
            "non-empty": "non-empty",
            "content-change": "content-change",
            "arrival": "arrival",
            "periodic": "periodic",
            "stream-end": "stream-end",
        },
        durations.compact,
    ),
}


def report_text(report: ast.Report, spelling: SpellingName = "rspql") -> str:
    """`ON_WINDOW_CLOSE & NON_EMPTY_CONTENT`, or as an option `window-close & non-empty`."""
    return _report(report, _SPELLINGS[spelling])


def _report(report: ast.Report, spelling: _Spelling) -> str:
    match report:
        case ast.AnyOf(reports):
            return _joined(reports, " | ", (ast.AnyOf,), spelling)
        case ast.AllOf(reports):
            return _joined(reports, " & ", (ast.AnyOf, ast.AllOf), spelling)
        case ast.NotReport(inner):
            return "!" + _joined((inner,), "", (ast.AnyOf, ast.AllOf, ast.NotReport), spelling)
        case ast.Strategy(name, None):
            return spelling.names[name]
        case ast.Strategy(name, period):
            assert period is not None
            return f"{spelling.names[name]} {spelling.duration(period)}"


def _joined(
    reports: Sequence[ast.Report], separator: str, in_parentheses: tuple[type, ...], spelling: _Spelling
) -> str:
    """`in_parentheses`: the types that need parentheses inside this connective (precedence: `!`, `&`, `|`)."""
    texts = (_report(report, spelling) for report in reports)
    return separator.join(
        f"({text})" if isinstance(report, in_parentheses) else text for report, text in zip(reports, texts, strict=True)
    )
