"""The explanation as one self-contained HTML page with tables, pictures and style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from penstock.explain import dgraph_picture, ograph, svg, timeline_picture
from penstock.explain.document import Document
from penstock.explain.highlighter import highlighted
from penstock.explain.picture import TIMELINE_REMARK
from penstock.explain.text import (
    SAID_BY,
    SETTING_TITLES,
    as_text,
    kind_of_query,
    operator_lines,
    plan_remark,
    size_text,
    window_facts,
)
from penstock.explain.windows import WindowDescription

_STYLE = """
:root { color-scheme: light dark; }
body.penstock { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; }
h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p { margin: .3rem 0 .8rem; }
.quiet { color: var(--quiet); }
code, pre, td.code { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: .86rem; }
pre { background: var(--faint); border-radius: 8px; padding: 1rem 1.2rem; overflow-x: auto; margin: .4rem 0; }
table { border-collapse: collapse; margin: .3rem 0 .8rem; }
td, th { text-align: left; vertical-align: top; padding: .3rem 1.4rem .3rem 0; border-bottom: 1px solid var(--faint); }
th { font-weight: 600; white-space: nowrap; }
td.code { overflow-wrap: anywhere; white-space: pre-wrap; }
td.short { white-space: nowrap; }
.picture { overflow-x: auto; padding: .4rem 0; }
.picture svg { display: block; }
summary { cursor: pointer; color: var(--quiet); }
pre .k { color: var(--streaming); font-weight: 600; }
pre .v { color: var(--result); }
pre .i { color: var(--static); }
pre .l { color: var(--own); }
pre .c { color: var(--quiet); font-style: italic; }
""".strip()


def as_html(document: Document) -> str:
    name = document.name or "A query"
    sections = [
        f"<h1>{escape(name)}</h1>\n<p class=quiet>{escape(_capital(kind_of_query(document)))}</p>",
        _section("The query", f"<pre>{highlighted(document.text.strip(), document.dialect)}</pre>"),
        _section(
            "Settings",
            _settings(document),
            "The settings that decide when the query is evaluated, and where they come from.",
        ),
        *([_section("Windows", "\n".join(_window(a, document) for a in document.windows))] if document.windows else []),
        _section(
            "Operators",
            _picture(ograph.picture(document), "The operator graph") + _details(document),
            "The operator graph (C-SPARQL’s O-graph): data flows upwards, from streams and graphs to the result.",
        ),
        *_plan(document),
        _section(
            "Sources of the patterns",
            _picture(dgraph_picture.picture(document.dgraph), "The denotational graph"),
            "The denotational graph (C-SPARQL’s D-graph): an edge is a triple pattern, a dashed box is its source. "
            "Streaming data is blue, static data is green.",
        ),
        *_timeline(document),
        _section(
            "SQL",
            f"<details><summary>The statement</summary>\n<pre>{escape(document.sql)}</pre></details>",
            "The engine runs one statement for all evaluation instants of a slice.",
        ),
    ]
    sections += _prefixes(document, sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(name)}</title>\n<style>\n{svg.STYLE}\n{_STYLE}\n</style>\n</head>\n"
        f'<body class="penstock">\n<main>\n{chr(10).join(sections)}\n</main>\n</body>\n</html>\n'
    )


def _capital(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}."


def _section(title: str, body: str, remark: str = "") -> str:
    said = f"<p class=quiet>{escape(remark)}</p>\n" if remark else ""
    return f"<section>\n<h2>{escape(title)}</h2>\n{said}{body}\n</section>"


def _table(rows: Iterable[Sequence[str]], heads: Sequence[str] = ()) -> str:
    """Cells are HTML."""
    head = "<tr>" + "".join(f"<th>{escape(cell)}</th>" for cell in heads) + "</tr>\n" if heads else ""
    body = "\n".join("<tr>" + "".join(row) + "</tr>" for row in rows)
    return f"<table>\n{head}{body}\n</table>"


def _cell(content: str, *, code: bool = False, head: bool = False) -> str:
    if head:
        return f'<th scope="row">{escape(content)}</th>'
    return f"<td class=code>{escape(content)}</td>" if code else f"<td>{escape(content)}</td>"


def _settings(document: Document) -> str:
    rows = [
        (
            _cell(SETTING_TITLES[setting.name], head=True),
            f'<td class="code short">{escape(setting.value)}</td>',
            _cell(setting.words),
            f'<td class="quiet short">{escape(SAID_BY[setting.said_by])}</td>',
        )
        for setting in document.settings
    ]
    return _table(rows)


def _window(window: WindowDescription, document: Document) -> str:
    stream = "every stream" if window.stream is None else window.stream
    where = ", part of the default graph" if window.in_default_graph else ""
    head = f"<h3>{escape(window.label)} <code>{escape(window.rule)}</code></h3>"
    rows = [
        (_cell(label.strip(), head=True), _cell(facts, code=True)) for label, facts in window_facts(window, document)
    ]
    over = f"<p>On <code>{escape(stream)}</code>{where}. {escape(window.sentence)}.</p>"
    return f"{head}\n{over}\n{_table(rows)}"


def _picture(fragment: svg.Fragment, label: str) -> str:
    padded = svg.stacked([fragment], 0, margin=3)
    return f'<div class="picture">{svg.document(padded, standalone=False, label=label)}</div>'


def _details(document: Document) -> str:
    return f"<details><summary>This page as text</summary>\n<pre>{escape(as_text(document))}</pre></details>"


def _plan(document: Document) -> list[str]:
    plan = document.plan
    if plan is None:
        return []
    drawing = _picture(ograph.picture(document, plan.operators), "The plan")
    steps = "\n".join(
        f"<details><summary>After: {escape(step.rule)}</summary>\n"
        f"<pre>{escape(chr(10).join(operator_lines(step.operators)))}</pre></details>"
        for step in plan.steps
    )
    rows = [(_cell(pattern, code=True), _cell(size_text(size))) for pattern, size in plan.sizes]
    sizes = _table(rows, ("joined in this order", "triples seen lately")) if rows else ""
    parts = [
        (_cell(" . ".join(p.patterns), code=True), _cell(", ".join(p.keys)), _cell(size_text(p.rows)))
        for p in plan.kept
    ]
    kept = _table(parts, ("static, computed once and kept", "by", "solutions")) if parts else ""
    return [_section("Plan", f"{drawing}\n{sizes}\n{kept}\n{steps}", f"{plan_remark(plan)}.")]


def _timeline(document: Document) -> list[str]:
    timeline = document.timeline
    if timeline is None:
        return []
    drawing = timeline_picture.picture(timeline, document.scale)
    return [_section("Timeline", _picture(drawing, "The timeline"), TIMELINE_REMARK)]


def _prefixes(document: Document, sections: Sequence[str]) -> list[str]:
    """Lists prefixes, so that every short name can be expanded."""
    prefixes = document.names.used_beside_the_declared(sections)
    rows = [(_cell(f"{prefix}:", code=True), _cell(namespace, code=True)) for prefix, namespace in prefixes.items()]
    return [_section("Prefixes that the query does not declare", _table(rows))] if rows else []
