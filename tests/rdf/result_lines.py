"""Result lines of single evaluations, as plain code: what the writers of columns are compared with."""

from __future__ import annotations

import json
from typing import Any

from pyoxigraph import BlankNode, NamedNode

from penstock.rdf.elements import Node
from penstock.rdf.results import Evaluation
from penstock.rdf.vocabulary import XSD_STRING


def to_json_line(evaluation: Evaluation) -> str:
    """The evaluation as one line of JSON, without the newline."""
    line: dict[str, Any] = {"query": evaluation.query, "time": evaluation.time}
    if evaluation.rows is not None:
        names = list(evaluation.variables or ())
        line["head"] = {"vars": names}
        bindings = [
            {name: _object(term) for name, term in zip(names, row, strict=True) if term is not None}
            for row in evaluation.rows
        ]
        line["results"] = {"bindings": bindings}
    elif evaluation.boolean is not None:
        line["head"] = {}
        line["boolean"] = evaluation.boolean
    else:
        line["triples"] = [f"{triple} ." for triple in evaluation.triples or ()]
    return json.dumps(line, ensure_ascii=False)


def _object(term: Node) -> dict[str, str]:
    if isinstance(term, NamedNode):
        return {"type": "uri", "value": term.value}
    if isinstance(term, BlankNode):
        return {"type": "bnode", "value": term.value}
    if term.language is not None:
        return {"type": "literal", "value": term.value, "xml:lang": term.language}
    if term.datatype.value != XSD_STRING:
        return {"type": "literal", "value": term.value, "datatype": term.datatype.value}
    return {"type": "literal", "value": term.value}
