"""The line that says how far a run is; on a clock of the test's own."""

from __future__ import annotations

import io

from rich.console import Console

from penstock.sinks.counts import Counts
from penstock.sinks.progress import Progress

ERASE = "\r\x1b[2K"


class Terminal:
    def __init__(self, *, is_terminal: bool = True, width: int = 200) -> None:
        self.time = 100.0
        self.file = io.StringIO()
        console = Console(
            file=self.file, force_terminal=is_terminal, width=width, color_system=None, highlight=False, _environ={}
        )
        self.progress = Progress(console, now=lambda: self.time)

    def after(self, seconds: float, counts: Counts) -> str:
        """What is written when some seconds have passed."""
        self.time += seconds
        before = len(self.file.getvalue())
        self.progress.update(counts)
        return self.file.getvalue()[before:]


def test_the_line_is_written_over() -> None:
    terminal = Terminal()
    first = terminal.after(1, Counts(elements=1000, evaluations=1, rows=1, watermark=8000))
    assert first == "1,000 elements · 1,000/s · watermark 8000 · 1 evaluation · 1 row"
    second = terminal.after(1, Counts(4000, 12, 3400, 2, 1, 1_714_564_800_500))
    assert second == (
        f"{ERASE}4,000 elements · 2,000/s · watermark 2024-05-01T12:00:00.500Z · 12 evaluations · 3,400 rows"
        " · 2 late · 1 malformed"
    )


def test_before_the_first_element() -> None:
    assert Terminal().after(1, Counts()) == "0 elements · 0/s · watermark none yet · 0 evaluations · 0 rows"


def test_it_is_not_written_too_often() -> None:
    terminal = Terminal()
    assert terminal.after(0, Counts(1)) != ""
    assert terminal.after(0.05, Counts(2)) == ""
    assert terminal.after(0.06, Counts(3)) != ""


def test_the_rate_is_that_of_the_last_seconds() -> None:
    terminal = Terminal()
    for seconds in range(1, 11):
        terminal.after(1, Counts(1000 * seconds))
    assert " · 1,000/s · " in terminal.after(1, Counts(11_000))
    for _ in range(4):
        last = terminal.after(1, Counts(11_000))
    assert " · 0/s · " in last


def test_results_come_between() -> None:
    terminal = Terminal()
    terminal.after(1, Counts(1))
    terminal.progress.hide()
    assert terminal.file.getvalue().endswith(ERASE)
    terminal.progress.hide()
    assert terminal.file.getvalue().count(ERASE) == 1
    assert not terminal.after(1, Counts(2)).startswith(ERASE)


def test_the_last_counts_stay() -> None:
    terminal = Terminal()
    terminal.after(1, Counts(1))
    terminal.after(0.01, Counts(2))
    terminal.progress.close()
    assert terminal.file.getvalue().endswith("rows\n")
    assert "2 elements" in terminal.file.getvalue()


def test_the_last_rate_is_that_of_the_whole_run() -> None:
    terminal = Terminal()
    terminal.after(1, Counts(1000))
    terminal.after(9, Counts(1000))
    terminal.progress.close()
    assert terminal.file.getvalue().rpartition(ERASE)[2].startswith("1,000 elements · 100/s · ")


def test_it_takes_one_line_of_any_terminal() -> None:
    assert len(Terminal(width=40).after(1, Counts(10**9, 10**6, 10**7, 1, 1, 8000))) <= 40


def test_without_a_terminal_there_is_nothing() -> None:
    silent = Terminal(is_terminal=False)
    silent.after(1, Counts(1000))
    silent.progress.hide()
    silent.progress.close()
    assert silent.file.getvalue() == ""
