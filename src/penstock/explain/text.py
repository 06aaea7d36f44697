"""The explanation as text for a terminal of 100 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from textwrap import wrap
from typing import Literal as OneOf

from penstock.algebra.windows import CountWindow
from penstock.explain.document import Document
from penstock.explain.plan import PlanDescription
from penstock.explain.settings import SettingSource
from penstock.explain.sources import Source
from penstock.explain.tree import OperatorNode
from penstock.explain.windows import Span, WindowDescription

WIDTH = 100
FACT = 23

Role = OneOf["heading", "name", "quiet", "static", "streaming", "own"]
Paint = Callable[[str, Role], str]

SAID_BY: dict[SettingSource, str] = {
    "query": "from the query",
    "user": "set by you",
    "dialect": "from the dialect",
    "default": "default",
}

SETTING_TITLES = {
    "dialect": "dialect",
    "report": "report policy",
    "operator": "streaming operator",
    "duplicates": "content",
    "t0": "origin t0",
    "lateness": "lateness",
    "evaluated_by": "evaluated by",
}


def as_text(document: Document, paint: Paint = lambda text, _: text) -> str:
    """`paint` may colour a piece of text; it must not change its width."""
    sections = [
        ("Settings", _settings(document, paint)),
        ("Windows", _windows(document, paint)),
        ("Graphs", _graphs(document)),
        ("Operators", operator_lines(document.operators, paint)),
        ("Plan", _plan(document, paint)),
        ("Evaluations", _evaluations(document, paint)),
    ]
    lines = [paint(headline(document), "heading")]
    for title, content in sections:
        body = list(content)
        if body:
            lines += ["", paint(title, "heading"), *body]
    prefixes = document.names.used_beside_the_declared(lines)
    if prefixes:
        longest = max(map(len, prefixes)) + 1
        lines += ["", paint("Prefixes that the query does not declare", "heading")]
        lines += [f"  {prefix + ':':<{longest}}  <{namespace}>" for prefix, namespace in prefixes.items()]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def headline(document: Document) -> str:
    """`PassagesPerTollgate: a SELECT query in C-SPARQL`."""
    kind = kind_of_query(document)
    return f"{document.name}: {kind}" if document.name is not None else kind[0].upper() + kind[1:]


def kind_of_query(document: Document) -> str:
    return f"{'an' if document.form == 'ASK' else 'a'} {document.form} query in {document.title}"


def _settings(document: Document, paint: Paint) -> Iterator[str]:
    rows = [(SETTING_TITLES[s.name], s.value, SAID_BY[s.said_by], s.words) for s in document.settings]
    first = max(len(row[0]) for row in rows) + 2
    second = max(len(row[1]) for row in rows) + 2
    for title, value, said_by, words in rows:
        yield f"  {title:<{first}}{paint(f'{value:<{second}}', 'name')}{paint(said_by, 'quiet')}"
        yield from _wrapped(words, " " * (first + 2))


def _wrapped(text: str, indent: str, hanging: str = "") -> list[str]:
    """Wraps between words only, so that no IRI is cut in two."""
    lines = wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [line.replace("\u00a0", " ") for line in lines]


# Windows


def _windows(document: Document, paint: Paint) -> Iterator[str]:
    for position, window in enumerate(document.windows):
        if position:
            yield ""
        yield from _window(window, document, paint)


def _window(window: WindowDescription, document: Document, paint: Paint) -> Iterator[str]:
    stream = "every stream" if window.stream is None else f"<{window.stream}>"
    number = f"{window.number}. "
    name = "" if window.label == f"window {window.number}" else f"{window.label} "
    where = ", part of the default graph" if window.in_default_graph else ""
    indent = " " * (2 + len(number))
    rule = f"{name}[{window.rule}]"
    fits = len(f"{indent}{rule} on {stream}{where}") <= WIDTH
    yield f"  {number}{paint(rule, 'name')}" + (f" on {stream}{where}" if fits else "")
    if not fits:
        yield from _wrapped(f"on {stream}{where}", indent)
    yield from _wrapped(f"{window.sentence}.", indent)
    for label, content in window_facts(window, document):
        yield from _wrapped(f"{label:<{FACT}}{content}", indent, " " * FACT)


def window_facts(window: WindowDescription, document: Document) -> Iterator[tuple[str, str]]:
    """The facts about a window besides its rule, each with a label."""
    if window.first_spans:
        yield from _spans(window, window.first_spans, "from t0", document)
    if window.data_spans and window.data_spans != window.first_spans:
        yield from _spans(window, window.data_spans, "from the data", document)
    yield "an element", _sample(window, document)
    if window.report is None:
        yield "evaluations", "none: another window has a REPORT, this one does not"


def _spans(
    window: WindowDescription, spans: Sequence[Span], start: str, document: Document
) -> Iterator[tuple[str, str]]:
    scale = document.scale
    yield f"windows {start}", "  ".join([*window.span_texts(spans, scale), "…"])
    verb = "ending at" if window.begins_at_boundary else "closing at"
    yield f"  {verb}", ", ".join([*window.closing_texts(spans, scale), "…"])


def _sample(window: WindowDescription, document: Document) -> str:
    scale, sample = document.scale, window.sample
    time = scale.instant(sample.time)
    which = f"the first one, at {time}," if sample.is_from_data else f"at {time}"
    if sample.valid is None:
        return f"{which} is never part of the content"
    if isinstance(window.window, CountWindow) and sample.valid.end is None:
        start = scale.instant(sample.valid.start)
        return f"{which} is part of the content from {start} until {window.window.size} more arrive"
    return f"{which} is part of the content during {window.validity_text(sample.valid, scale)}"


def _graphs(document: Document) -> Iterator[str]:
    for graph in document.graphs:
        name = graph.label if graph.iri is None else f"<{graph.iri}>"
        where = "named" if graph.is_named else "part of the default graph"
        data = "" if graph.triples is None else f", {graph.triples} triples"
        yield f"  {name}, {where}{data}"


# The tree of operators


def operator_lines(root: OperatorNode, paint: Paint = lambda text, _: text) -> Iterator[str]:
    yield from _operator(root, "", "", paint)


def _plan(document: Document, paint: Paint) -> Iterator[str]:
    if document.plan is not None:
        yield from _wrapped(f"{plan_remark(document.plan)}.", "  ")
        yield from operator_lines(document.plan.operators, paint)
        if document.plan.sizes:
            yield "  Joined in this order, with the number of triples matched recently:"
            sizes = [size_text(size) for _, size in document.plan.sizes]
            for size, (pattern, _) in zip(sizes, document.plan.sizes, strict=True):
                yield f"    {size:>{max(map(len, sizes))}}  {pattern}"
        if document.plan.kept:
            yield "  Static, computed once and kept:"
            for part in document.plan.kept:
                yield from _wrapped(part.sentence, "    ")


def size_text(size: int | None) -> str:
    return "?" if size is None else f"{size:,}"


def plan_remark(plan: PlanDescription) -> str:
    return (
        f"The plan that runs, after these rules: {', '.join(plan.rules)}" if plan.rules else "The query runs as written"
    )


def _operator(node: OperatorNode, indent: str, branch: str, paint: Paint) -> Iterator[str]:
    """One operator: its part (static or streaming) in front, its details after its name and below."""
    role = "" if node.role is None else f"{node.role}: "
    below = indent + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
    lead = len(indent) + len(branch) + len(role) + len(node.operator) + 1
    hanging = (below + ("│" if node.children else "")).ljust(lead)
    lines = [line for detail in node.details for line in _fitted(detail, lead)]
    sources = [paint(line, "quiet") for line in _fitted(f"from {sources_text(node.reads)}", lead)] if node.reads else []
    first, *others = [*lines, *sources] or [""]
    yield f"{paint(f'  {node.part:<11}', node.part)}{indent}{branch}{role}{paint(node.operator, 'name')} {first}"
    for line in others:
        yield f"{' ' * 13}{hanging}{line}"
    for child in node.children:
        is_last = child is node.children[-1]
        yield from _operator(child, below, "└─ " if is_last else "├─ ", paint)


def _fitted(text: str, lead: int) -> list[str]:
    return wrap(text, max(20, WIDTH - 13 - lead), break_on_hyphens=False, break_long_words=False)


def sources_text(sources: Sequence[Source]) -> str:
    """`window 1`, `graph :shops + window 1`."""
    return " + ".join(map(str, sources))


# Evaluation instants


def _evaluations(document: Document, paint: Paint) -> Iterator[str]:
    timeline = document.timeline
    if timeline is None:
        if document.has_data:
            yield "  none: the streams have no elements"
        return
    if timeline.is_cut:
        until = document.scale.instant(timeline.last)
        yield f"  For the first {timeline.shown} of {timeline.elements} elements, up to {until}:"
    rows = [(_policy_name(row.dialects, row.is_own), row) for row in timeline.policies]
    for position, (name, row) in enumerate(rows):
        if position:
            yield ""
        yield f"  {paint(name, 'own' if row.is_own else 'name')}  {paint(row.report, 'quiet')}"
        text = row.problem or _instants_text(row.instants, document) or "no evaluation"
        yield from _wrapped(text, "    ")


def _policy_name(dialects: Sequence[str], is_own: bool) -> str:
    names = ", ".join(dialects)
    return (f"this query ({names})" if names else "this query") if is_own else f"as in {names}"


MOST_INSTANTS = 20


def _instants_text(instants: Sequence[int], document: Document) -> str:
    shown = ", ".join(document.scale.instants(instants[:MOST_INSTANTS]))
    more = len(instants) - MOST_INSTANTS
    return f"{shown}, … {more} more" if more > 0 else shown
