"""The explanation as one picture: the operator graph, and the timeline below it if there is data."""

from __future__ import annotations

from penstock.explain import ograph, svg, timeline_picture
from penstock.explain.document import Document
from penstock.explain.text import plan_remark

TIMELINE_REMARK = "The elements, the windows over them, and the evaluation instants under the policy of each dialect."


def as_svg(document: Document) -> str:
    name = document.name or "query"
    remark = f"{document.title}, {document.form}; data flows upwards"
    parts = [svg.heading(f"{name}: operators", remark), ograph.picture(document)]
    if document.plan is not None:
        parts.append(svg.heading(f"{name}: plan", plan_remark(document.plan)))
        parts.append(ograph.picture(document, document.plan.operators))
    if document.timeline is not None:
        parts.append(svg.heading(f"{name}: timeline", TIMELINE_REMARK))
        parts.append(timeline_picture.picture(document.timeline, document.scale))
    return svg.document(svg.stacked(parts, 16, margin=22), label=f"How {name} is evaluated")
