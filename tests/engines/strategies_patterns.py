"""Random graph patterns and sub-selects as text.

What has no agreed meaning is left out: inside EXISTS there is no BIND, VALUES, MINUS or sub-select, for the
specification does not say how the outer solution is put into them; SAMPLE of different values and the order of
GROUP_CONCAT are free; so is LIMIT without a total order, hence `ordered`; and what a path, or GRAPH with a variable,
finds in a window that counts the matches of each triple pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.engines.strategies_expressions import VARIABLES, Expressions
from tests.engines.strategies_inputs import LINKS, LITERALS, NODES


@dataclass(frozen=True, slots=True)
class Place:
    """Where triples are found: `text` has `{}` for the pattern; `variable` is what the block itself binds."""

    text: str
    variable: str | None = None
    holds_triples_alone: bool = False
    """As a window does that counts the matches of each triple pattern."""


DEFAULT_GRAPH = Place("{}")

_NESTING = ["triples", "optional", "optional", "union", "union"]


class Patterns(Expressions):
    """A method gives the text of a pattern, and adds the variables that it binds to `scope`."""

    places: Sequence[Place] = (DEFAULT_GRAPH,)
    group_windows: Sequence[str] = ()
    """Windows that a group may end with (Streaming SPARQL)."""
    has_paths = True

    # Triples and paths

    def triple(self, scope: list[str]) -> str:
        subject = self.node() if not self.chance(8) else self.choose(*NODES)
        kinds = (
            "link",
            "link",
            "link",
            "number",
            "number",
            "literal",
            "any",
            *(["path", "path"] if self.has_paths else []),
        )
        match self.choose(*kinds):
            case "number":
                verb, target = ":n", "?n" if not self.chance(10) else self.choose("1", "2", "1.5")
            case "literal":
                verb, target = ":l", "?l" if not self.chance(10) else self.choose(*LITERALS)
            case "path":
                verb, target = self.path(2), self.node() if not self.chance(8) else self.choose(*NODES)
                if self.chance(15):
                    subject, target = self._both_ends()
            case "any":
                verb, target = "?r", self.choose("?b", "?c", "?n", "?l")
            case _:
                verb, target = self.choose(*LINKS), self.node() if not self.chance(8) else self.choose(*NODES)
        for part in (subject, verb, target):
            if part.startswith("?"):
                _add(scope, part)
        return f"{subject} {verb} {target}"

    def _both_ends(self) -> tuple[str, str]:
        """The ends of a path that are both bound, or the same."""
        end = self.choose("?a", "?c", *NODES)
        return self.choose((end, end), (self.choose(*NODES), self.choose(*NODES)))

    def node(self) -> str:
        return self.choose("?a", "?b", "?c") if not self.chance(5) else "[]"

    def path(self, depth: int) -> str:
        link = self.choose(*LINKS)
        if depth <= 0:
            return link
        match self.choose("repeat", "repeat", "sequence", "alternative", "inverse", "negated"):
            case "repeat":
                return f"({self.path(depth - 1)}){self.choose('+', '*', '?')}"
            case "sequence":
                return f"{self.path(depth - 1)}/{self.path(depth - 1)}"
            case "alternative":
                return f"({self.path(depth - 1)}|{self.path(depth - 1)})"
            case "inverse":
                return f"^({self.path(depth - 1)})"
        return f"!{self.choose(':p', '(:p|^:q)', '(:n|:l)', '^:p')}"

    def triples(self, scope: list[str]) -> str:
        return " . ".join(self.triple(scope) for _ in range(self.choose(1, 1, 1, 2, 2)))

    # Groups

    def placed(self, scope: list[str], depth: int) -> str:
        """Triples, or a whole group, in one of the places."""
        place = self.choose(*self.places)
        if place.variable is not None:
            _add(scope, place.variable)
        if place is DEFAULT_GRAPH or place.holds_triples_alone or depth <= 0 or not self.chance(40):
            return place.text.format(self.triples(scope))
        if self.chance(50):
            return place.text.format(self.sub_select(scope, lambda own: self.group(own, depth - 1, is_placed=True)))
        return place.text.format(self.group(scope, depth - 1, is_placed=True))

    def group(self, scope: list[str], depth: int, *, is_placed: bool = False, is_plain: bool = False) -> str:
        """The inside of `{ }`. `is_placed`: the active graph is chosen already; `is_plain`: as EXISTS may have it."""

        def found(inner: list[str]) -> str:
            return self.triples(inner) if is_placed else self.placed(inner, depth)

        def nested(inner: list[str]) -> str:
            return self.group(inner, depth - 1, is_placed=is_placed, is_plain=is_plain)

        def side(inner: list[str]) -> str:
            match self.choose("group") if is_plain else self.choose("group", "group", "group", "subselect", "apart"):
                case "subselect":
                    return self.sub_select(inner, nested)
                case "apart":
                    return _joined([nested(inner), self._apart()])
            return nested(inner)

        own: list[str] = []
        parts = [found(own)]
        kinds = ["filter"] if is_plain else ["filter", "bind", "bind", "values"]
        if depth > 0:
            others = ["minus", "minus", "apart", "subselect", "subselect", "group"]
            kinds += _NESTING if is_plain else [*_NESTING, *others]
        for kind in [
            self.choose(*kinds) for _ in range(self.choose(0, 1, 1, 2) if depth > 0 else self.choose(0, 0, 1))
        ]:
            match kind:
                case "triples":
                    parts.append(found(own))
                case "filter":
                    parts.append(self._filter([*own, *scope] if is_plain else own))
                case "optional":
                    parts.append(f"OPTIONAL {{ {nested(own)} }}")
                case "union":
                    parts.append(f"{{ {side(own)} }} UNION {{ {side(own)} }}")
                case "minus":
                    parts.append(f"MINUS {{ {nested([])} }}")
                case "apart":
                    parts.append(self._apart())
                case "group":
                    parts.append(f"{{ {nested(own)}{self._group_window()} }}")
                case "bind":
                    expression, variable = self.expression(own), self.new_variable()
                    parts.append(f"BIND ({expression} AS {variable})")
                    own.append(variable)
                case "values":
                    parts.append(self.values(own))
                case "subselect":
                    parts.append(f"{{ {self.sub_select(own, nested)} }}")
        for variable in own:
            _add(scope, variable)
        return _joined(parts)

    def _apart(self) -> str:
        """Two patterns that share no variable: MINUS takes nothing away (SPARQL 1.1 §8.3.3)."""
        first, second = self.new_variable(), self.new_variable()
        return f"MINUS {{ {first} {self.choose(*LINKS)} {second} }}"

    def _group_window(self) -> str:
        return f" {self.choose(*self.group_windows)}" if self.group_windows and self.chance(50) else ""

    def _filter(self, scope: Sequence[str]) -> str:
        """Rather often something passes."""
        condition = self.condition(scope, self.choose(1, 1, 1, 2, 3))
        return f"FILTER ({condition})" if self.chance(40) else f"FILTER ({condition} || {self.condition(scope, 1)})"

    def exists(self, scope: Sequence[str], depth: int) -> str:
        negation = self.choose("", "NOT ")
        return f"{negation}EXISTS {{ {self.group(list(scope), max(0, depth - 1), is_plain=True)} }}"

    def values(self, scope: list[str]) -> str:
        names = self.choose(("?a",), ("?b",), ("?n",), ("?a", "?b"), ("?b", "?n"))
        for name in names:
            _add(scope, name)

        def value(name: str) -> str:
            if self.chance(15):
                return "UNDEF"
            return self.choose("1", "2", '"a"') if name == "?n" else self.choose(*NODES)

        rows = self.several(lambda: f"({' '.join(map(value, names))})", 1, 3)
        return f"VALUES ({' '.join(names)}) {{ {' '.join(rows)} }}"

    # Sub-selects, grouping and order

    def sub_select(self, scope: list[str], nested: object) -> str:
        assert callable(nested)
        inner: list[str] = []
        where = nested(inner)
        match self.choose("plain", "distinct", "grouped", "ordered"):
            case "distinct":
                text, projected = self.projection(inner)
                text = f"SELECT {self.choose('DISTINCT', 'DISTINCT', 'REDUCED')} {text} {{ {where} }}"
            case "grouped":
                text, projected = self.grouped(inner, f"{{ {where} }}")
            case "ordered":
                text, projected = self.ordered(inner, "", where)
            case _:
                text, projected = self.projection(inner)
                text = f"SELECT {text} {{ {where} }}"
        for variable in projected:
            _add(scope, variable)
        return text

    def projection(self, scope: Sequence[str]) -> tuple[str, list[str]]:
        """Some of the variables in scope, now and then one of them twice, and perhaps expressions."""
        chosen = self.several(lambda: self.any_variable(scope), 1, 3)
        names = list(dict.fromkeys(chosen))
        items = chosen if self.chance(40) else names
        for _ in range(self.choose(0, 0, 0, 1, 2)):
            variable = self.new_variable()
            items = [*items, f"({self.expression([*scope, *names[-1:]])} AS {variable})"]
            names.append(variable)
        return " ".join(items), names

    def grouped(self, scope: Sequence[str], rest: str) -> tuple[str, list[str]]:
        """SELECT with GROUP BY; `rest` is the dataset and the pattern."""
        keys = list(dict.fromkeys(self.several(lambda: self.any_variable(scope), 0, 2)))
        conditions, visible = list(keys), list(keys)
        if self.chance(15):
            variable = self.new_variable()
            key = self.choose(self.condition, self.term)(scope, 1)
            conditions.append(f"({key} AS {variable})")
            visible.append(variable)
        items, names = list(visible), list(visible)
        for aggregate in self.several(lambda: self.aggregate(scope, keys), 0 if visible else 1, 2):
            name = self.new_variable()
            items.append(f"({aggregate} AS {name})")
            names.append(name)
            if self.chance(10):
                later = self.new_variable()
                items.append(f"({self.choose('{0} + 1', 'BOUND({0})', 'ISNUMERIC({0})').format(name)} AS {later})")
                names.append(later)
        text = f"SELECT {' '.join(items)} {rest}"
        if conditions:
            text += f" GROUP BY {' '.join(conditions)}"
        if self.chance(30):
            text += f" HAVING ({self.having(scope, visible)})"
        return text, names

    def having(self, scope: Sequence[str], keys: Sequence[str]) -> str:
        match self.choose("count", "sum", "key"):
            case "sum":
                return f"SUM({self.number(scope, 0)}) > {self.choose(0, 2, 4)}"
            case "key" if keys:
                self.strays = False
                condition = self.condition(keys, 1)
                self.strays = True
                return condition
        return f"COUNT({self.choose('*', self.any_variable(scope))}) {self.choose('>', '=', '<=')} {self.choose(1, 2)}"

    def aggregate(self, scope: Sequence[str], keys: Sequence[str]) -> str:
        distinct = "DISTINCT " if self.chance(50) else ""
        match self.choose("COUNT", "COUNT", "SUM", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT"):
            case "COUNT":
                counted = self.choose("*", "*", self.any_variable(scope), self.expression(scope, 1))
                return f"COUNT({distinct}{counted})"
            case "SUM":
                return f"SUM({distinct}{self.number(scope, 1)})"
            case "AVG":
                return f"AVG({distinct}{self.number(scope, 0)})"
            case "MIN" | "MAX" as name:
                return f"{name}({distinct}{self._comparable(scope)})"
            case "SAMPLE" if keys:
                return f"SAMPLE({distinct}{self.choose(*keys)})"
            case "GROUP_CONCAT" if any(key in VARIABLES for key in keys):
                separator = self.choose("", "; SEPARATOR = '-'")
                argument = self.choose("STR({})", "{}").format(self.data_variable(keys))
                return f"GROUP_CONCAT({distinct}{argument}{separator})"
        return f"COUNT({distinct}{self.any_variable(scope)})"

    def _comparable(self, scope: Sequence[str]) -> str:
        """MIN and MAX are determined where all values have an order: numbers, or nodes."""
        variable = self.data_variable(scope)
        if self.chance(50):
            return f"IF({variable} = {variable} + 0, {variable} + 0, 1)"
        return f"IF(ISIRI({variable}), {variable}, :b)"

    def ordered(self, scope: Sequence[str], dataset: str, where: str, most: int = 2) -> tuple[str, list[str]]:
        """SELECT with a total order: all that it projects orders, and has one term for each value."""
        data = [variable for variable in scope if variable in VARIABLES] or ["?a"]
        projected = list(dict.fromkeys(self.several(lambda: self.choose(*data), 1, most)))
        kinds = " ".join(
            f"FILTER (!BOUND({v}) || ISIRI({v}) || (DATATYPE({v}) = xsd:integer && STR({v}) = STR(0 + {v}))"
            f" || (!ISNUMERIC({v}) && DATATYPE({v}) NOT IN (xsd:dateTime, xsd:boolean)))"
            for v in projected
        )
        directions = ("{}", "DESC({})", "ASC({})")
        conditions = [self.choose(*directions).format(variable) for variable in projected]
        if self.chance(25):
            conditions.insert(0, f"(BOUND({self.any_variable(scope)}))")
        text = f"SELECT {' '.join(projected)} {dataset} {{ {{ {where} }} {kinds} }} ORDER BY {' '.join(conditions)}"
        if self.chance(70):
            text += f" LIMIT {self.choose(1, 2, 3)}"
        if self.chance(30):
            text += f" OFFSET {self.choose(1, 2)}"
        return text, projected


def _add(scope: list[str], variable: str) -> None:
    if variable not in scope:
        scope.append(variable)


def _joined(parts: Sequence[str]) -> str:
    return " . ".join(parts)
