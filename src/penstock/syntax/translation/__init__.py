"""The same query in another dialect (dialects.md §9)
.

RSP-QL can express everything, so each translation goes through it. `to_rspql` makes the defaults of a dialect explicit
(report policy, streaming operator, set or bag content, origin). `from_rspql` expresses the result in the target
dialect, or lists the obstacles.
"""

from __future__ import annotations

from dataclasses import dataclass

from penstock.syntax import ast
from penstock.syntax.errors import TranslationError
from penstock.syntax.recognition import TITLES
from penstock.syntax.translation.normal_form import normal_form
from penstock.syntax.translation.to_rspql import explicit
from penstock.syntax.translation.variables import plain_variables

__all__ = ["Translation", "explicit", "normal_form", "translate"]


@dataclass(frozen=True, slots=True)
class Translation:
    """The translated query; `differences` lists changes of its meaning, which only an approximation has."""

    query: ast.Query
    differences: tuple[str, ...] = ()


def translate(query: ast.Query, to: ast.DialectName, *, approximate: bool = False) -> Translation:
    """The query in the dialect `to`, with the same meaning. Raises TranslationError if `to` cannot express it.

    An approximation omits what `to` cannot express and lists the differences; some parts cannot even be approximated.
    """
    from penstock.syntax.translation.from_rspql import FROM_RSPQL, Obstacles  # runs need `explicit` only

    if query.dialect == to:
        return Translation(query)
    obstacles = Obstacles()
    written = explicit(query) if to == "csparql" else plain_variables(explicit(query))
    translated = FROM_RSPQL[to](written, obstacles)
    in_the_way = (*obstacles.insurmountable, *(() if approximate else obstacles.differences))
    if in_the_way:
        raise TranslationError(TITLES[to], in_the_way)
    return Translation(translated, tuple(obstacles.differences))
