"""Joins, unions and differences of relations: intersect, append or subtract intervals.

OPTIONAL, MINUS and EXISTS cut a row into pieces with a partner and pieces without (Streaming SPARQL, Algorithms 4 and
5). Rows get a number for this, in a column of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product

from sqlglot import exp

from penstock.algebra.expressions import Variable
from penstock.relational.intervals import each_instant, gaps, once
from penstock.relational.relations import (
    Relation,
    Statement,
    aliased,
    col,
    greatest,
    least,
    number,
    select_from,
    united,
)


def join(
    statement: Statement, relations: list[Relation], condition: exp.Expr | None = None, *, materialized: bool = False
) -> Relation:
    """Equal shared variables, overlapping intervals. A variable that may be unbound joins by compatibility.

    Other columns that several relations share (row numbers) must be equal, too.
    """
    if len(relations) == 1 and condition is None:
        return relations[0]
    relations = _in_slices(statement, _nearby(statement, _with_keys(statement, relations)))
    holders: dict[Variable, list[Relation]] = {}
    extras: dict[str, list[Relation]] = {}
    for relation in relations:
        for variable in relation.columns:
            holders.setdefault(variable, []).append(relation)
        for name in relation.extra:
            extras.setdefault(name, []).append(relation)
    conditions: list[exp.Expr] = []
    selected: list[exp.Expr] = []
    for variable, having in holders.items():
        value, more = _shared(variable, having)
        conditions += more
        selected.append(aliased(value, statement.column_name(variable)))
    for name, having in extras.items():
        if name != _SLICE:
            selected.append(col(having[0].name, name))
        conditions += (col(having[0].name, name).eq(col(other.name, name)) for other in having[1:])
    passing = [relation for relation in relations if not relation.holds_always] or relations[:1]
    if statement.shape.is_snapshot:
        passing = passing[:1]
    momentary = [relation for relation in passing if relation.is_momentary]
    bounds = momentary[:1] or passing
    start, end = greatest([r.start for r in bounds]), least([r.end for r in bounds])
    conditions += _meeting(statement, passing, [relation for relation in relations if relation.holds_always])
    if condition is not None:
        conditions.append(condition)
    if _SLICE in extras:  # rows that overlap in several slices are joined in the first of these
        conditions.append(col(extras.pop(_SLICE)[0].name, _SLICE).eq(_slice_of(start)))
    query = select_from(relations[0].name, [*selected, aliased(start, "i"), aliased(end, "j")])
    for relation in relations[1:]:
        query = query.join(exp.to_table(relation.name), join_type="cross")
    columns = {variable: statement.column_name(variable) for variable in holders}
    certain = frozenset().union(*(relation.certain for relation in relations))
    holds_always = all(relation.holds_always for relation in relations)
    if conditions:
        query = query.where(*conditions)
    name = statement.add(query, materialized=materialized)
    return Relation(name, columns, certain, tuple(extras), holds_always, bool(momentary))


def connected(relations: list[Relation], variables: frozenset[Variable]) -> list[Relation]:
    """The relations that have one of the variables bound in every row, and relations that are joined with them."""
    found: list[Relation] = []
    while True:
        more = [r for r in relations if r not in found and not variables.isdisjoint(r.certain)]
        if not more:
            return found
        found += more
        variables = variables.union(*(relation.certain for relation in more))


def _with_keys(statement: Statement, relations: list[Relation]) -> list[Relation]:
    """If streams are joined, a static relation that adds a join variable is joined with its stream first.

    Example: two cars at gates of one district. The districts of the gates leave few pairs of rows to compare. The
    result is a separate relation, because an engine that does not know the number of pairs would rather join the
    streams first.
    """
    streams = [relation for relation in relations if not relation.holds_always]
    if len(streams) < 2:
        return relations
    added: dict[int, list[Relation]] = {}
    for static in (relation for relation in relations if relation.holds_always):
        partners = [place for place, stream in enumerate(streams) if static.columns.keys() & stream.columns.keys()]
        if len(partners) == 1 or (partners and _is_narrow(statement, static, streams[partners[0]])):
            new = static.columns.keys() - streams[partners[0]].columns.keys()
            if any(new & other.columns.keys() for other in relations if other is not static):
                added.setdefault(partners[0], []).append(static)
    joined = iter(_each_joined(statement, [[stream, *added.get(place, ())] for place, stream in enumerate(streams)]))
    taken = {id(static) for group in added.values() for static in group}
    return [r if r.holds_always else next(joined) for r in relations if id(r) not in taken]


def _is_narrow(statement: Statement, static: Relation, stream: Relation) -> bool:
    """Whether to join them first although the static relation has variables of another stream, too.

    It drops rows of the one stream and adds few. The engine would rather join the streams: it expects few rows of each.
    """
    shared = static.columns.keys() & stream.columns.keys()
    return not statement.shape.is_snapshot and not static.narrow.isdisjoint(shared)


def _nearby(statement: Statement, relations: list[Relation]) -> list[Relation]:
    """A kept part with several keys is looked up by one of them first, the one of the first stream.

    An engine looks up rows by the values of one column; for several columns it would scan all rows.
    """
    streams = [relation for relation in relations if not relation.holds_always]
    found: list[Relation] = []
    for relation in relations:
        asking = {v: stream for stream in reversed(streams) for v in relation.looked_up if v in stream.certain}
        if len(asking) > 1:
            stream = next(stream for stream in streams if stream in asking.values())
            variable = next(v for v, by in asking.items() if by is stream)
            relation = _looked_up(statement, relation, stream, variable)
        found.append(relation)
    return found


def _looked_up(statement: Statement, relation: Relation, stream: Relation, variable: Variable) -> Relation:
    """The rows of the kept part that share a value with a stream."""
    values = statement.add(select_from(stream.name, [aliased(stream.column(variable), "value")]).distinct())
    kept = [col(relation.name, name) for name in relation.all_columns]
    query = select_from(relation.name, [*kept, relation.start, relation.end])
    query = query.join(exp.to_table(values), on=relation.column(variable).eq(col(values, "value")))
    return replace(relation, name=statement.add(query, materialized=True), looked_up=frozenset())


def _each_joined(statement: Statement, groups: list[list[Relation]]) -> list[Relation]:
    """The relations of each group, joined; groups that read the same under other names are joined once."""
    known: dict[object, Relation] = {}
    joined: list[Relation] = []
    for group in groups:
        form = _form(statement, group)
        if len(group) == 1:
            joined.append(group[0])
        elif form in known and not known[form].extra:
            joined.append(_for_others(statement, known[form], _variables_of(group)))
        else:
            known[form] = join(statement, group, materialized=True)
            joined.append(known[form])
    return joined


def _variables_of(group: list[Relation]) -> list[Variable]:
    return list(dict.fromkeys(variable for relation in group for variable in relation.columns))


def _form(statement: Statement, group: list[Relation]) -> object:
    """The relations that are joined, independent of the names of variables."""
    variables = _variables_of(group)
    return tuple(
        (statement.origin(relation.name, column), variables.index(variable))
        for relation in group
        for variable, column in relation.columns.items()
    )


def _for_others(statement: Statement, relation: Relation, variables: list[Variable]) -> Relation:
    """The relation with its variables renamed."""
    own = dict(zip(variables, relation.columns, strict=True))
    columns = {variable: statement.column_name(variable) for variable in variables}
    name = statement.renamed(relation.name, {columns[v]: relation.columns[own[v]] for v in variables})
    return Relation(name, columns, frozenset(v for v in variables if own[v] in relation.certain))


_SLICE = "slice"
LENGTH = exp.Placeholder(this="slice")
"""The number of instants of a slice."""


def _in_slices(statement: Statement, relations: list[Relation]) -> list[Relation]:
    """Rows with long intervals, repeated for each slice of their interval, if several such relations are joined.

    The slice is another join key: so the engine compares only nearby rows, and can do so in parallel. DuckDB would join
    relations that share no variable by the slice alone.
    """
    passing = [r for r in relations if not (r.holds_always or r.is_momentary)]
    if not statement.shape.has_slices or len(passing) < 2 or any(r.is_momentary for r in relations):
        return relations
    if not statement.shape.is_distributed and not all(_share(passing[0], other) for other in passing[1:]):
        return relations
    return [_in_each_slice(statement, relation) if relation in passing else relation for relation in relations]


def _in_each_slice(statement: Statement, relation: Relation) -> Relation:
    kept = [col(relation.name, name) for name in relation.all_columns]
    last = exp.Add(this=_slice_of(exp.Sub(this=relation.end, expression=number(1))), expression=number(1))
    slices = aliased(each_instant(_slice_of(relation.start), last), _SLICE)
    query = select_from(relation.name, [*kept, relation.start, relation.end, slices])
    return statement.relation(query, relation.columns, relation.certain, (*relation.extra, _SLICE))


def _slice_of(instant: exp.Expr) -> exp.Expr:
    return exp.IntDiv(this=exp.Paren(this=instant.copy()), expression=LENGTH.copy())


def _meeting(
    statement: Statement, relations: Sequence[Relation], static: Sequence[Relation] = ()
) -> list[exp.Expr]:  # fmt: skip
    """Intervals have an instant in common if any two of them have one; the static relations are joined with them."""
    same = exp.EQ if statement.shape.is_distributed else exp.NullSafeEQ
    momentary = [relation for relation in relations if relation.is_momentary]
    conditions: list[exp.Expr] = [same(this=one.start, expression=other.start) for one, other in _to_compare(momentary)]
    plainly = _to_compare(relations, static)
    for one, other in combinations(relations, 2):
        if one.is_momentary and other.is_momentary:
            continue
        if (one, other) in plainly:
            conditions += [one.start < other.end, other.start < one.end]
        else:
            conditions.append(greatest([one.start, other.start]) < least([one.end, other.end]))
    return conditions


def _to_compare(
    relations: Sequence[Relation], static: Sequence[Relation] = ()
) -> list[tuple[Relation, Relation]]:  # fmt: skip
    """The pairs to compare: relations that share a variable, and those that others do not compare indirectly.

    Relations that share variables with the same static relations need not be compared: the engine joins them by these.

    An engine expects few rows to share an instant. If it had to compare the instants of rows that share nothing else,
    it would join them all with each other. It would also do so if it saw that both are equal to a third one. DuckDB
    looks for this in plain equations, and joins by plain comparisons: of two columns, not of expressions over both.
    """
    together = {relation.name: {relation.name} for relation in (*relations, *static)}

    def unite(one: Relation, other: Relation) -> None:
        everyone = together[one.name] | together[other.name]
        together.update(dict.fromkeys(everyone, everyone))

    for constant, other in product(static, (*relations, *static)):
        if _share(constant, other):
            unite(constant, other)
    chosen: list[tuple[Relation, Relation]] = []
    for one, other in sorted(combinations(relations, 2), key=lambda pair: not _share(*pair)):
        if _share(one, other) or other.name not in together[one.name]:
            chosen.append((one, other))
            unite(one, other)
    return chosen


def _share(one: Relation, other: Relation) -> bool:
    return not one.columns.keys().isdisjoint(other.columns)


def _shared(variable: Variable, having: list[Relation]) -> tuple[exp.Expr, list[exp.Expr]]:
    """The value of a variable that several relations have, and the conditions under which they agree."""
    certain = [relation for relation in having if variable in relation.certain]
    if certain:  # a value compatible with a bound value is compatible with all others
        first = certain[0].column(variable)
        others = [relation for relation in having if relation is not certain[0]]
        return first, [_agree(variable, certain[0], other) for other in others]
    values = [relation.column(variable) for relation in having]
    value = values[0] if len(values) == 1 else exp.Coalesce(this=values[0], expressions=values[1:])
    return value, [_agree(variable, one, other) for one, other in combinations(having, 2)]


def _agree(variable: Variable, one: Relation, other: Relation) -> exp.Expr:
    equal = one.column(variable).eq(other.column(variable))
    uncertain = [relation for relation in (one, other) if variable not in relation.certain]
    return exp.or_(equal, *(relation.column(variable).is_(exp.null()) for relation in uncertain))


def union(statement: Statement, relations: list[Relation]) -> Relation:
    columns = {v: statement.column_name(v) for relation in relations for v in relation.columns}
    extra = relations[0].extra
    query = united([aligned(relation, columns, extra) for relation in relations])
    certain = frozenset.intersection(*(relation.certain for relation in relations))
    return statement.relation(query, columns, certain, extra)


def aligned(relation: Relation, columns: dict[Variable, str], extra: tuple[str, ...]) -> exp.Query:
    """The relation with these columns only, NULL for those it does not have."""
    selected = [aliased(as_text(relation.column(v)), name) for v, name in columns.items()]
    selected += [col(relation.name, name) for name in extra]
    return select_from(relation.name, [*selected, relation.start, relation.end])


def as_text(value: exp.Expr) -> exp.Expr:
    """NULL gets the type of a term; a column has it."""
    return exp.cast(value, "text") if isinstance(value, exp.Null) else value


def with_extra(statement: Statement, relation: Relation, extra: tuple[str, ...]) -> Relation:
    """The relation with its variables, and of the other columns only these."""
    columns = [col(relation.name, name) for name in [*relation.columns.values(), *extra]]
    query = select_from(relation.name, [*columns, relation.start, relation.end])
    is_momentary = relation.is_momentary
    return statement.relation(query, relation.columns, relation.certain, extra, is_momentary=is_momentary)


def numbered(statement: Statement, relation: Relation) -> tuple[Relation, str]:
    """The relation with a number for each row, and the name of that column.

    Distributed rows are identified by their values: if one has a partner at an instant, all equal rows have it.
    """
    row = f"row{len(statement.parts)}"
    kept = [col(relation.name, name) for name in relation.all_columns]
    value: exp.Expr = exp.Window(this=exp.RowNumber(), partition_by=[])
    if statement.shape.is_distributed:
        value = exp.Struct(expressions=[*(column.copy() for column in kept), relation.start, relation.end])
    query = select_from(relation.name, [*kept, aliased(value, row), relation.start, relation.end])
    extra = (*relation.extra, row)
    is_momentary = relation.is_momentary
    return statement.relation(
        query, relation.columns, relation.certain, extra, materialized=True, is_momentary=is_momentary
    ), row


def without(statement: Statement, rows: Relation, matched: Relation, row: str) -> Relation:
    """The pieces of the rows that `matched` does not cover."""
    if _are_whole(statement, rows):
        return _kept(statement, rows, matched, [col(rows.name, row).eq(col(matched.name, row))], "anti")
    covered = once(statement, matched.name, [row])
    left_over = gaps(statement, rows.name, rows.all_columns, covered, row)
    return Relation(left_over, rows.columns, rows.certain, rows.extra)


def within(statement: Statement, rows: Relation, matched: Relation, row: str) -> Relation:
    """The pieces of the rows that `matched` covers, each once."""
    if _are_whole(statement, rows):
        return _kept(statement, rows, matched, [col(rows.name, row).eq(col(matched.name, row))], "semi")
    covered = once(statement, matched.name, [row])
    columns = [col(rows.name, name) for name in rows.all_columns]
    query = select_from(rows.name, [*columns, col(covered, "i"), col(covered, "j")])
    query = query.join(exp.to_table(covered), on=col(rows.name, row).eq(col(covered, row)))
    return statement.relation(query, rows.columns, rows.certain, rows.extra)


def _are_whole(statement: Statement, rows: Relation) -> bool:
    """Whether rows need not be cut: each holds at one instant, so it has a partner or has none."""
    return statement.shape.is_snapshot or rows.is_momentary


def _agree_certainly(left: Relation, right: Relation) -> bool:
    return all(v in left.certain and v in right.certain for v in left.columns if v in right.columns)


def _partners(statement: Statement, left: Relation, right: Relation) -> list[exp.Expr]:
    """The conditions under which rows are partners; the left rows are whole."""
    conditions: list[exp.Expr] = [left.column(v).eq(right.column(v)) for v in left.columns if v in right.columns]
    conditions += [col(left.name, name).eq(col(right.name, name)) for name in left.extra if name in right.extra]
    if statement.shape.is_snapshot or right.holds_always:
        return conditions
    return conditions + _meeting(statement, [left, right])


def _kept(statement: Statement, rows: Relation, others: Relation, conditions: list[exp.Expr], kind: str) -> Relation:
    columns = [col(rows.name, name) for name in rows.all_columns]
    query = select_from(rows.name, [*columns, rows.start, rows.end])
    query = query.join(exp.to_table(others.name), on=exp.and_(*conditions), join_type=kind)
    return statement.relation(query, rows.columns, rows.certain, rows.extra, is_momentary=rows.is_momentary)


def left_join(statement: Statement, left: Relation, right: Relation) -> Relation | None:
    """OPTIONAL as LEFT JOIN, for rows that are whole; None if that is not sufficient."""
    if not _are_whole(statement, left) or not _agree_certainly(left, right):
        return None
    if len(right.looked_up & left.columns.keys()) > 1:
        return None
    holders = {v: left if v in left.columns else right for v in (*left.columns, *right.columns)}
    columns = {variable: statement.column_name(variable) for variable in holders}
    selected = [aliased(holder.column(v), columns[v]) for v, holder in holders.items()]
    selected += [col(left.name, name) for name in left.extra]
    conditions = _partners(statement, left, right) or [exp.true()]
    query = select_from(left.name, [*selected, left.start, left.end])
    query = query.join(exp.to_table(right.name), on=exp.and_(*conditions), join_type="left")
    return statement.relation(query, columns, left.certain, left.extra, is_momentary=left.is_momentary)


def minus(statement: Statement, left: Relation, right: Relation, within: Variable | None = None) -> Relation:
    """Left rows without a right row that is compatible and has at least one variable bound on both sides.

    Both sides have equal `within` columns, which are not variables of the pattern: sharing them does not count.
    """
    shared = [variable for variable in left.columns if variable in right.columns and variable != within]
    if not shared:
        return left
    if _are_whole(statement, left) and _agree_certainly(left, right) and not right.looked_up:
        return _kept(statement, left, right, _partners(statement, left, right), "anti")
    rows, row = numbered(statement, left)
    condition = None
    if not any(variable in left.certain and variable in right.certain for variable in shared):
        condition = exp.or_(*(_both_bound(rows, right, variable) for variable in shared))
    matched = join(statement, [rows, right], condition)
    return with_extra(statement, without(statement, rows, matched, row), left.extra)


def _both_bound(left: Relation, right: Relation, variable: Variable) -> exp.Expr:
    uncertain = [relation for relation in (left, right) if variable not in relation.certain]
    return exp.and_(*(relation.column(variable).is_(exp.null()).not_() for relation in uncertain))
