"""The explanation as JSON: the keys that programs rely on."""

from __future__ import annotations

import json

from tests.explain.cases import COUPONS, TOLLGATES, document

from penstock.algebra import Settings
from penstock.explain.json_document import as_json


def test_keys() -> None:
    record = json.loads(as_json(document(COUPONS)))
    assert list(record) == ["query", "settings", "windows", "graphs", "operators", "plan", "dgraph", "timeline", "sql"]
    assert list(record["query"]) == ["name", "form", "dialect", "text"]
    assert list(record["settings"]) == ["dialect", "report", "operator", "duplicates", "t0", "lateness"]
    assert all(list(setting) == ["value", "words", "said_by"] for setting in record["settings"].values())
    assert list(record["windows"][0]) == [
        "number",
        "label",
        "stream",
        "in_default_graph",
        "rule",
        "rule_said_by",
        "sentence",
        "t0",
        "report",
        "report_said_by",
        "duplicates",
        "first_windows",
        "first_windows_of_data",
        "sample",
    ]
    assert list(record["operators"]) == ["number", "operator", "role", "details", "part", "reads", "children"]
    assert list(record["dgraph"]) == ["vertices", "edges", "groups", "aggregates"]
    assert list(record["timeline"]) == ["first", "last", "elements", "shown", "streams", "windows", "policies"]


def test_values_are_those_of_the_model() -> None:
    record = json.loads(as_json(document(COUPONS)))
    assert record["query"]["name"] == "http://example.org/shops#answer"
    assert record["windows"][0]["first_windows"][0] == {"opens": 1, "closes": 6, "closing_instant": 6}
    assert record["windows"][1]["sample"] == {"time": 8, "valid": [8, 9], "from_data": True}
    assert record["timeline"]["windows"][0]["stream"] == "http://example.org/shops#nearby"
    assert record["timeline"]["policies"][0]["instants"] == [8]


def test_without_data_there_is_no_timeline() -> None:
    assert json.loads(as_json(document("ASK {}")))["timeline"] is None


def test_who_said_what() -> None:
    def said(text: str, settings: Settings | None = None) -> dict[str, str]:
        record = json.loads(as_json(document(text, settings)))
        return {name: setting["said_by"] for name, setting in record["settings"].items()}

    by_dialect = said(TOLLGATES.read_text())
    assert by_dialect == {
        "dialect": "query",
        "report": "dialect",
        "operator": "dialect",
        "duplicates": "dialect",
        "t0": "default",
        "lateness": "default",
    }
    every = TOLLGATES.read_text().replace("PassagesPerTollgate AS", "PassagesPerTollgate COMPUTED EVERY 30s AS")
    assert said(every)["report"] == "query"
    by_user = said(TOLLGATES.read_text(), Settings(operator="dstream", duplicates="bag", origin=5))
    assert (by_user["operator"], by_user["duplicates"], by_user["t0"]) == ("user", "user", "user")
    rspql = "SELECT * FROM WINDOW ON STREAM <http://e.org/s> [RANGE PT5S {}] {{ ?s ?p ?o }}"
    assert said(rspql.format("REPORT ON_ARRIVAL ORIGIN 3 DUPLICATES BAG")) == {
        "dialect": "query",
        "report": "query",
        "operator": "dialect",
        "duplicates": "query",
        "t0": "query",
        "lateness": "default",
    }
