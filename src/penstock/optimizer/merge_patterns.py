"""Joined triple patterns of one graph become one basic graph pattern (C-SPARQL §5.1, MergeJoinedGPOs).

BGP(A) ⋈ BGP(B) = BGP(A ∪ B), and WINDOW w { P } ⋈ WINDOW w { Q } = WINDOW w { P ⋈ Q } if the name stands for one
content. It does not if a variable ranges over names, or if several streams or graphs have the same name. A window that
counts the matches of its patterns (MATCHING) is left unchanged.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.algebra.expressions import Constant
from penstock.algebra.model import Dataset, StreamWindow
from penstock.algebra.operators import BasicGraphPattern, Join, Operator, PatternTerm, ReadGraph, ReadWindow
from penstock.algebra.windows import CountWindow
from penstock.optimizer.knowledge import Knowledge
from penstock.optimizer.rewriting import from_the_leaves, joined, operands
from penstock.rdf.terms import IRI


def merge_patterns(operator: Operator, knowledge: Knowledge) -> Operator:
    def merged(inner: Operator) -> Operator:
        return _merged(operands(inner), knowledge.dataset) if isinstance(inner, Join) else inner

    return from_the_leaves(operator, merged)


def _merged(parts: list[Operator], dataset: Dataset) -> Operator:
    """Merges each part with the first one that reads the same content."""
    kept: list[Operator] = []
    for part in parts:
        for place, other in enumerate(kept):
            whole = together(other, part, dataset)
            if whole is not None:
                kept[place] = whole
                break
        else:
            kept.append(part)
    return joined(kept)


def together(one: Operator, other: Operator, dataset: Dataset) -> Operator | None:
    """The merged reading of both; None if they read different contents."""
    match one, other:
        case BasicGraphPattern(patterns), BasicGraphPattern(more):
            return BasicGraphPattern((*patterns, *more))
        case (ReadGraph(name, source), ReadGraph(same, more)) | (ReadWindow(name, source), ReadWindow(same, more)):
            assert isinstance(one, ReadGraph | ReadWindow)
            if name == same and is_one_content(one, dataset):
                return replace(one, source=_merged([*operands(source), *operands(more)], dataset))
    return None


def is_one_content(block: ReadGraph | ReadWindow, dataset: Dataset) -> bool:
    """Whether the name of the block stands for one content, the same for each pattern in it."""
    if isinstance(block, ReadWindow):
        return _is_one_window(block.name, dataset)
    return _is_one_graph(block.name, dataset)


def _is_one_window(name: PatternTerm, dataset: Dataset) -> bool:
    found = _windows(name, dataset)
    return len(found) == 1 and found[0].stream is not None and not _counts_matches(found[0])


def _is_one_graph(name: PatternTerm, dataset: Dataset) -> bool:
    """A graph, or a window whose name is certainly not also the name of a graph."""
    if not isinstance(name, Constant) or not _windows(name, dataset):
        return isinstance(name, Constant)
    is_graph = not dataset.has_clauses or any(name.term == IRI(graph) for graph in dataset.named_graphs)
    return not is_graph and _is_one_window(name, dataset)


def _windows(name: PatternTerm, dataset: Dataset) -> list[StreamWindow]:
    return [
        window
        for window in dataset.windows
        if isinstance(name, Constant) and window.name is not None and name.term == IRI(window.name)
    ]


def _counts_matches(window: StreamWindow) -> bool:
    return isinstance(window.window, CountWindow) and window.window.matching
