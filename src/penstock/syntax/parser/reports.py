"""Report policies as text (semantics.md §5): `window-close & non-empty`, or RSP-QL's `ON_WINDOW_CLOSE & …`.

Both spellings are read everywhere. `!` binds tightest, then `&`, then `|`.
"""

from __future__ import annotations

import re
from typing import NoReturn, get_args

from penstock.syntax import ast
from penstock.syntax.ast.reports import StrategyName
from penstock.syntax.durations import MILLISECOND, match_duration
from penstock.syntax.errors import Problem, QuerySyntaxError
from penstock.syntax.parser.cursor import MAX_NESTING, ParseFailure
from penstock.syntax.spans import Span
from penstock.syntax.suggestions import closest

STRATEGIES: tuple[StrategyName, ...] = get_args(StrategyName)

_SPACE = re.compile(r"(?:\s+|#[^\r\n]*)*")
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]*")


def parse_report(text: str) -> ast.Report:
    """A policy that is the whole text, as `--report` takes it."""
    try:
        report, end = read_report(text, 0)
        if end != len(text.rstrip()):
            rest = Span(end, len(text.rstrip()))
            raise ParseFailure(Problem("expected `&`, `|` or the end of the policy", rest))
    except ParseFailure as failure:
        raise QuerySyntaxError([failure.problem], text, "report policy") from None
    return report


def read_report(text: str, offset: int) -> tuple[ast.Report, int]:
    """The policy that begins at `offset`, and where it ends."""
    reader = _Reader(text, offset)
    report = reader.any_of()
    return report, reader.end


class _Reader:
    def __init__(self, text: str, offset: int) -> None:
        self.text = text
        self.offset = offset
        self.end = offset
        self.nesting = 0

    def any_of(self) -> ast.Report:
        reports = [self.all_of()]
        while self.accept("|"):
            reports.append(self.all_of())
        return reports[0] if len(reports) == 1 else ast.AnyOf(tuple(reports), span=self.span(reports[0]))

    def all_of(self) -> ast.Report:
        reports = [self.single()]
        while self.accept("&"):
            reports.append(self.single())
        return reports[0] if len(reports) == 1 else ast.AllOf(tuple(reports), span=self.span(reports[0]))

    def single(self) -> ast.Report:
        self.skip_space()
        start = self.offset
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            self.fail(f"the policy nests deeper than {MAX_NESTING} levels", 1)
        if self.accept("!"):
            report: ast.Report = ast.NotReport(self.single(), span=Span(start, self.end))
        elif self.accept("("):
            report = self.any_of()
            if not self.accept(")"):
                self.fail("expected `)` to close the policy", 1)
        else:
            report = self.strategy()
        self.nesting -= 1
        return report

    def strategy(self) -> ast.Strategy:
        start = self.offset
        word = _WORD.match(self.text, start)
        if word is None:
            self.fail(f"expected a report strategy: {', '.join(STRATEGIES)}", 1)
        name = _strategy_name(word[0])
        if name is None:
            near = closest(word[0].lower().replace("_", "-").removeprefix("on-"), STRATEGIES)
            hint = f"did you mean {near}?" if near else f"there are {', '.join(STRATEGIES)}"
            self.fail(f"there is no report strategy {word[0]}", len(word[0]), hint)
        self.offset = self.end = word.end()
        period = self.period() if name == "periodic" else None
        return ast.Strategy(name, period, span=Span(start, self.end))

    def period(self) -> int:
        self.accept("(")
        bracketed = self.text[self.end - 1] == "("
        self.skip_space()
        duration = match_duration(self.text, self.offset, MILLISECOND)
        length = None if duration is None else duration.milliseconds()
        if duration is None or length is None or length <= 0:
            self.fail("expected a duration such as 5s after periodic", 1)
        self.offset = self.end = duration.end
        if bracketed and not self.accept(")"):
            self.fail("expected `)` after the period", 1)
        return length

    def accept(self, mark: str) -> bool:
        """Steps over `mark`, doubled or not (`&&` is read as `&`)."""
        self.skip_space()
        if not self.text.startswith(mark, self.offset):
            return False
        self.offset += 2 if mark in "&|" and self.text.startswith(mark * 2, self.offset) else 1
        self.end = self.offset
        return True

    def skip_space(self) -> None:
        matched = _SPACE.match(self.text, self.offset)
        assert matched is not None, "the pattern matches the empty string"
        self.offset = matched.end()

    def span(self, first: ast.Report) -> Span:
        return Span(first.span.start, self.end)

    def fail(self, message: str, width: int, hint: str | None = None) -> NoReturn:
        span = Span(self.offset, min(self.offset + width, len(self.text)))
        raise ParseFailure(Problem(message, span, hint))


def _strategy_name(word: str) -> StrategyName | None:
    plain = word.lower().replace("_", "-").removeprefix("on-")
    spellings: dict[str, StrategyName] = {name: name for name in STRATEGIES}
    spellings["non-empty-content"] = "non-empty"
    return spellings.get(plain)
