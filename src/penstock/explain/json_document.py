"""The explanation as JSON, for programs: times in milliseconds, full IRIs, intervals as in semantics.md."""

from __future__ import annotations

import json
from typing import Any

from penstock.explain.dgraph import DGraph
from penstock.explain.document import Document
from penstock.explain.timeline import Timeline, WindowRow
from penstock.explain.tree import OperatorNode
from penstock.explain.windows import Span, WindowDescription


def as_json(document: Document) -> str:
    return json.dumps(record(document), ensure_ascii=False, indent=2) + "\n"


def record(document: Document) -> dict[str, Any]:
    """The explanation as a dictionary for JSON. Keys are stable; later versions may add keys."""
    return {
        "query": {
            "name": document.registered,
            "form": document.form,
            "dialect": document.dialect,
            "text": document.text,
        },
        "settings": {
            setting.name: {"value": setting.value, "words": setting.words, "said_by": setting.said_by}
            for setting in document.settings
        },
        "windows": [_window(window) for window in document.windows],
        "graphs": [
            {"iri": graph.iri, "named": graph.is_named, "triples": graph.triples} for graph in document.graphs
        ],
        "operators": _operator(document.operators),
        "plan": None
        if document.plan is None
        else {
            "operators": _operator(document.plan.operators),
            "sizes": [{"pattern": pattern, "triples": size} for pattern, size in document.plan.sizes],
            "kept": [{"patterns": k.patterns, "keys": k.keys, "rows": k.rows} for k in document.plan.kept],
            "rules": [{"rule": step.rule, "operators": _operator(step.operators)} for step in document.plan.steps],
        },
        "dgraph": _dgraph(document.dgraph),
        "timeline": None if document.timeline is None else _timeline(document.timeline),
        "sql": document.sql,
    }  # fmt: skip


def _window(window: WindowDescription) -> dict[str, Any]:
    sample = window.sample
    return {
        "number": window.number,
        "label": window.label,
        "stream": window.stream,
        "in_default_graph": window.in_default_graph,
        "rule": window.rule,
        "rule_said_by": window.rule_said_by,
        "sentence": window.sentence,
        "t0": window.origin,
        "report": window.report,
        "report_said_by": window.report_said_by,
        "duplicates": window.duplicates,
        "first_windows": [_span(span) for span in window.first_spans],
        "first_windows_of_data": [_span(span) for span in window.data_spans],
        "sample": {
            "time": sample.time,
            "valid": None if sample.valid is None else list(sample.valid),
            "from_data": sample.is_from_data,
        },
    }


def _span(span: Span) -> dict[str, int]:
    """The timestamps `(opens, closes]`; `closing_instant` is when the window closes."""
    return {"opens": span.opens, "closes": span.closes, "closing_instant": span.at}


def _operator(node: OperatorNode) -> dict[str, Any]:
    return {
        "number": node.number,
        "operator": node.operator,
        "role": node.role,
        "details": list(node.details),
        "part": node.part,
        "reads": [
            {"kind": source.kind, "label": source.label, "iri": source.iri, "window": source.number}
            for source in node.reads
        ],
        "children": [_operator(child) for child in node.children],
    }


def _dgraph(graph: DGraph) -> dict[str, Any]:
    return {
        "vertices": [
            {"key": v.key, "label": v.label, "kind": v.kind, "projected": v.is_projected, "notes": list(v.annotations)}
            for v in graph.vertices
        ],
        "edges": [
            {"subject": e.subject, "predicate": e.predicate, "object": e.object, "group": e.group, "tag": e.tag}
            for e in graph.edges
        ],
        "groups": [{"number": g.number, "label": g.label, "part": g.part} for g in graph.groups],
        "aggregates": [
            {
                "function": a.function,
                "parameters": list(a.parameters),
                "group": list(a.group),
                "results": list(a.results),
                "notes": list(a.annotations),
            }
            for a in graph.aggregates
        ],
    }


def _timeline(timeline: Timeline) -> dict[str, Any]:
    return {
        "first": timeline.first,
        "last": timeline.last,
        "elements": timeline.elements,
        "shown": timeline.shown,
        "streams": [
            {
                "stream": row.stream,
                "elements": [{"number": e.number, "time": e.time, "text": e.text} for e in row.elements],
            }
            for row in timeline.streams
        ],
        "windows": [_window_row(row) for row in timeline.windows],
        "policies": [
            {"report": row.report, "dialects": list(row.dialects), "own": row.is_own, "instants": list(row.instants)}
            for row in timeline.policies
        ],
    }


def _window_row(row: WindowRow) -> dict[str, Any]:
    return {
        "label": row.label,
        "stream": row.stream,
        "rule": row.rule,
        "windows": [{**_span(span.span), "elements": span.elements} for span in row.spans],
        "elements": [{"time": bar.time, "valid": [bar.start, bar.end]} for bar in row.bars],
        "cut": row.is_cut,
    }
