"""The operator graph for Graphviz: `penstock explain query.rq --format dot | dot -Tpng > query.png`."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.explain.document import Document
from penstock.explain.ograph import OBox, OGraph, operator_graph

_COLOURS = {"streaming": ("#2563c9", "#e4eefc"), "static": ("#2c7a4b", "#e4f4e9")}


def as_dot(document: Document) -> str:
    graph = operator_graph(document)
    identifiers = {key: f"n{number}" for number, key in enumerate(graph.boxes, start=1)}
    lines = [
        f"digraph {_quoted(document.name or 'query')} {{",
        "  rankdir = BT;",
        '  node [shape = box, style = "rounded,filled", fontname = "monospace", fontsize = 11];',
        '  edge [color = "#5d6778"];',
    ]
    lines += [f"  {_node(box, identifiers)}" for box in graph.of_kind("operator")]
    for number, (label, boxes) in enumerate(_clusters(graph), start=1):
        lines.append(f"  subgraph cluster_{number} {{")
        lines.append(f'    label = {_quoted(label)}; style = dashed; fontname = "monospace"; fontsize = 11;')
        lines += [f"    {_node(box, identifiers)}" for box in boxes]
        lines.append("  }")
    for flow in graph.flows:
        colour = _COLOURS[flow.part][0]
        role = "" if flow.role is None else f", label = {_quoted(flow.role)}"
        lines.append(f'  {identifiers[flow.start]} -> {identifiers[flow.end]} [color = "{colour}"{role}];')
    return "\n".join([*lines, "}", ""])


def _clusters(graph: OGraph) -> list[tuple[str, Sequence[OBox]]]:
    """A cluster for each stream with its windows, one for the graphs, one for the services."""
    clusters: list[tuple[str, Sequence[OBox]]] = []
    for stream in graph.of_kind("stream"):
        windows = [graph.boxes[flow.end] for flow in graph.flows if flow.start == stream.key]
        clusters.append((stream.key, [stream, *windows]))
    for kind, label in (("graph", "graphs"), ("service", "services")):
        if boxes := graph.of_kind(kind):
            clusters.append((label, boxes))
    return clusters


def _node(box: OBox, identifiers: dict[str, str]) -> str:
    line, fill = _COLOURS[box.part]
    text = "".join(f"{_escaped(part)}\\l" for part in box.lines)
    label = f'"{_escaped(box.heading)}\\n{text}"'
    return f'{identifiers[box.key]} [label = {label}, color = "{line}", fillcolor = "{fill}"];'


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
