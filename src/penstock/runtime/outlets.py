"""Where the evaluations of a query go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from penstock.rdf.results import Evaluation

Written: TypeAlias = Any
"""How much of an output is safe, as its outlet says it; JSON can hold it."""


class Outlet:
    """Takes the evaluations of a query.

    What is written between two commits is cut off or overwritten when it is written again after a crash. An outlet that
    can do neither receives some evaluations twice, and can recognise them by query and instant.
    """

    def resume(self, written: Written) -> None:
        """Writing begins; `written` is what `position` returned at the last commit, None at the very beginning."""

    def write(self, evaluation: Evaluation) -> None:
        """Take an evaluation."""

    def finish(self, number: int) -> None:
        """All evaluations of a batch are written. A batch that is repeated after a crash has the same number."""

    def position(self) -> Written:
        """How much survives a crash now; None where nothing can be taken back."""


@dataclass(frozen=True)
class Callback(Outlet):
    """Passes evaluations to a function."""

    function: Callable[[Evaluation], None]

    def write(self, evaluation: Evaluation) -> None:
        self.function(evaluation)
