"""Report policies, streaming operators and contents in words (semantics.md §5, §7, §3)."""

from __future__ import annotations

from penstock.algebra.model import Duplicates
from penstock.explain.times import TimeScale
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk

_CONDITIONS = {
    "window-close": "{window} closes",
    "non-empty": "{content} is not empty",
    "content-change": "{content} changes",
    "arrival": "an element enters {window}",
    "stream-end": "the stream ends",
}

_OPERATORS: dict[ast.Operator, str] = {
    "rstream": "all solutions of each evaluation",
    "istream": "the solutions that the previous evaluation did not have",
    "dstream": "the solutions of the previous evaluation that are gone",
}

_DUPLICATES: dict[Duplicates, str] = {
    "set": "a triple that occurs twice in a window counts once",
    "bag": "a triple counts as often as it occurs in a window",
}

OPERATOR_NAMES: dict[ast.Operator, str] = {"rstream": "RStream", "istream": "IStream", "dstream": "DStream"}


def report_phrase(report: ast.Report, window: str, scale: TimeScale) -> str:
    """The condition for an evaluation: `window :w closes and its content is not empty`."""
    texts = _Phrases(window, scale)
    return texts.condition(report)


class _Phrases:
    """Names the window once; after that it is `it`, and its content is `its content`."""

    def __init__(self, window: str, scale: TimeScale) -> None:
        self._window = window
        self._scale = scale
        self._is_named = False

    def condition(self, report: ast.Report) -> str:
        match report:
            case ast.AllOf(reports):
                return " and ".join(self._inner(part) for part in reports)
            case ast.AnyOf(reports):
                return " or ".join(self._inner(part) for part in reports)
            case ast.NotReport(inner):
                return f"it is not true that {self._inner(inner)}"
            case ast.Strategy("periodic", period):
                assert period is not None
                return f"a multiple of {self._scale.duration(period)} has passed since t0"
            case ast.Strategy(name):
                return self._strategy(name)

    def _strategy(self, name: str) -> str:
        text = _CONDITIONS[name]
        if "{" not in text:
            return text
        first = not self._is_named
        self._is_named = True
        content = f"the content of {self._window}" if first else "its content"
        return text.format(window=self._window if first else "it", content=content)

    def _inner(self, report: ast.Report) -> str:
        text = self.condition(report)
        return f"({text})" if isinstance(report, ast.AllOf | ast.AnyOf) else text


def operator_phrase(operator: ast.Operator, reports: list[ast.Report]) -> str:
    """The output of an operator. If a report waits for the end of the stream, ISTREAM delays uncertain solutions."""
    if operator == "istream" and has_stream_end(reports):
        return "each solution once, as soon as no later element can retract it; the rest when the stream ends"
    return _OPERATORS[operator]


def has_stream_end(reports: list[ast.Report]) -> bool:
    strategies = (node for report in reports for node in walk(report) if isinstance(node, ast.Strategy))
    return any(strategy.name == "stream-end" for strategy in strategies)


def duplicates_phrase(duplicates: Duplicates) -> str:
    return _DUPLICATES[duplicates]
