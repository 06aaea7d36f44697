"""Named windows and streams must be declared once, and read.

A named window can be reached by its name alone (semantics.md §4), so nothing of one that no block names is in the
answer: probably not what its author meant, and worth a warning. In SPARQLstream plain patterns read it.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.checks.facts import Facts
from penstock.syntax.errors import Problem
from penstock.syntax.spans import Span
from penstock.syntax.suggestions import closest

Block = ast.Graph | ast.WindowBlock | ast.StreamBlock

_READ_BY: dict[ast.DialectName, str] = {
    "rspql": "WINDOW {name} {{ … }}",
    "csparql": "GRAPH {name} {{ … }}",
    "sparqlstream": "STREAM {name} {{ … }}",
    "streaming-sparql": "GRAPH {name} {{ … }}",
}
"""How each dialect reads a named window."""


def check_window_names(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    clauses = [clause for clause in query.dataset if isinstance(clause, ast.WindowClause)]
    meant: set[IRI] = set()
    if query.dialect == "rspql":
        yield from _check_declared(clauses, facts, meant)
    if clauses and query.dialect in _READ_BY:
        yield from _check_declared_once(clauses, query.dialect)
        yield from _check_read(clauses, facts, query.dialect, meant)


def _check_declared(clauses: list[ast.WindowClause], facts: Facts, meant: set[IRI]) -> Iterator[Problem]:
    """RSP-QL: a WINDOW block reads a declared window. `meant` takes the names that were probably misspelt."""
    declared = [name for clause in clauses if (name := _name(clause)) is not None]
    for block in facts.blocks:
        if not isinstance(block, ast.WindowBlock):
            continue
        if isinstance(block.name, ast.Variable):
            if not declared:
                yield Problem(
                    "the query declares no window that WINDOW could range over", block.name.span, _declare("<window>")
                )
            continue
        read = block.name.term
        if isinstance(read, IRI) and read not in declared:
            near = _closest_iri(read, declared)
            if near is None:
                hint = _declare(str(read)) if not declared else f"declared: {', '.join(map(str, declared))}"
            else:
                meant.add(near)
                hint = f"did you mean {near}?"
            yield Problem(f"the window {read} is not declared", block.name.span, hint)


def _declare(name: str) -> str:
    return f"declare it: FROM NAMED WINDOW {name} ON <stream> [RANGE … STEP …]"


def _check_declared_once(clauses: list[ast.WindowClause], dialect: ast.DialectName) -> Iterator[Problem]:
    """RSP-QL's names are each one window; C-SPARQL's streams have one window each."""
    seen: set[IRI] = set()
    for clause in clauses:
        name = _name(clause)
        if name is None or (dialect == "rspql" and clause.name is None):
            continue
        if name in seen and dialect == "rspql":
            yield Problem(f"the window {name} is declared twice", _place(clause), "give each window a name of its own")
        elif name in seen and dialect == "csparql":
            yield Problem(
                f"the stream {name} has a window already, and C-SPARQL allows one per stream",
                _place(clause),
                "drop one of them; RSP-QL can have several: FROM NAMED WINDOW <name> ON <stream> […]",
            )
        seen.add(name)


def _check_read(
    clauses: list[ast.WindowClause], facts: Facts, dialect: ast.DialectName, meant: set[IRI]
) -> Iterator[Problem]:
    for clause in clauses:
        name = _name(clause)
        if not clause.named or name is None or name in meant or _is_read(clause, name, facts.blocks):
            continue
        if dialect == "sparqlstream" and not any(_could_be(block, name) for block in facts.blocks if _names(block)):
            continue
        yield _unread(clause, name, facts.blocks, dialect)


def _names(block: Block) -> bool:
    """Whether a block of SPARQLstream names a stream: STREAM, or GRAPH with an IRI."""
    return isinstance(block, ast.StreamBlock) or isinstance(block.name, ast.Constant)


def _is_read(clause: ast.WindowClause, name: IRI, blocks: list[Block]) -> bool:
    """A block with a variable reads all; a STREAM block with a window of its own does not use the one declared."""
    for block in blocks:
        if isinstance(block, ast.StreamBlock) and block.window is not None and clause.window is not None:
            continue
        if _could_be(block, name):
            return True
    return False


def _could_be(block: Block, name: IRI) -> bool:
    read = block.stream if isinstance(block, ast.StreamBlock) else block.name
    return isinstance(read, ast.Variable) or read.term == name


def _unread(clause: ast.WindowClause, name: IRI, blocks: list[Block], dialect: ast.DialectName) -> Problem:
    what = "window" if dialect == "rspql" else "stream"
    if any(isinstance(block, ast.StreamBlock) and _could_be(block, name) for block in blocks):
        problem = f"nothing reads this window of the stream {name}: each STREAM block over it has its own"
        return Problem(problem, _place(clause), "drop the window here, or the one in the STREAM block", "warning")
    block = _READ_BY[dialect].format(name=name)
    unnamed = "FROM WINDOW" if dialect == "rspql" else "FROM STREAM"
    hint = f"read it in WHERE with {block}; or write {unnamed}, without NAMED, to have it in the default graph"
    return Problem(f"nothing reads the {what} {name}", _place(clause), hint, "warning")


def _name(clause: ast.WindowClause) -> IRI | None:
    """The name of a window: its own, or its stream's; None for a variable, which stands for every stream."""
    node = clause.name or clause.stream
    return node.term if isinstance(node, ast.Constant) and isinstance(node.term, IRI) else None


def _place(clause: ast.WindowClause) -> Span:
    return (clause.name or clause.stream).span


def _closest_iri(name: IRI, candidates: list[IRI]) -> IRI | None:
    """Compared by what follows the namespace: the namespace makes all IRIs of a query look alike."""
    by_local_name = {_local_name(candidate): candidate for candidate in candidates}
    local_name = _local_name(name)
    near = local_name if local_name in by_local_name else closest(local_name, by_local_name)
    return None if near is None else by_local_name[near]


def _local_name(iri: IRI) -> str:
    return iri.value[max(iri.value.rfind(mark) for mark in "#/:") + 1 :]
