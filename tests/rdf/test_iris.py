"""Relative IRIs against a base: the examples of RFC 3986 §5.4, and what SPARQL needs beyond them."""

from __future__ import annotations

import pytest

from penstock.rdf.iris import is_absolute, resolve

BASE = "http://a/b/c/d;p?q"

NORMAL = {
    "g:h": "g:h",
    "g": "http://a/b/c/g",
    "./g": "http://a/b/c/g",
    "g/": "http://a/b/c/g/",
    "/g": "http://a/g",
    "//g": "http://g",
    "?y": "http://a/b/c/d;p?y",
    "g?y": "http://a/b/c/g?y",
    "#s": "http://a/b/c/d;p?q#s",
    "g#s": "http://a/b/c/g#s",
    "g?y#s": "http://a/b/c/g?y#s",
    ";x": "http://a/b/c/;x",
    "g;x": "http://a/b/c/g;x",
    "g;x?y#s": "http://a/b/c/g;x?y#s",
    "": "http://a/b/c/d;p?q",
    ".": "http://a/b/c/",
    "./": "http://a/b/c/",
    "..": "http://a/b/",
    "../": "http://a/b/",
    "../g": "http://a/b/g",
    "../..": "http://a/",
    "../../": "http://a/",
    "../../g": "http://a/g",
}
ABNORMAL = {
    "../../../g": "http://a/g",
    "../../../../g": "http://a/g",
    "/./g": "http://a/g",
    "/../g": "http://a/g",
    "g.": "http://a/b/c/g.",
    ".g": "http://a/b/c/.g",
    "g..": "http://a/b/c/g..",
    "..g": "http://a/b/c/..g",
    "./../g": "http://a/b/g",
    "./g/.": "http://a/b/c/g/",
    "g/./h": "http://a/b/c/g/h",
    "g/../h": "http://a/b/c/h",
    "g;x=1/./y": "http://a/b/c/g;x=1/y",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/./x": "http://a/b/c/g?y/./x",
    "g?y/../x": "http://a/b/c/g?y/../x",
    "g#s/./x": "http://a/b/c/g#s/./x",
    "g#s/../x": "http://a/b/c/g#s/../x",
    "http:g": "http:g",
}


@pytest.mark.parametrize(("reference", "resolved"), [*NORMAL.items(), *ABNORMAL.items()])
def test_the_examples_of_rfc_3986(reference: str, resolved: str) -> None:
    assert resolve(reference, BASE) == resolved


@pytest.mark.parametrize(
    ("reference", "base", "resolved"),
    [
        ("g", "http://a", "http://a/g"),
        ("g", "urn:x:y", "urn:g"),
        ("é/ü", "http://ä/b", "http://ä/é/ü"),
        ("#x", "http://a/b#y", "http://a/b#x"),
        ("//b/../c", "http://a/", "http://b/c"),
        ("?q", "http://a", "http://a?q"),
    ],
)
def test_other_bases(reference: str, base: str, resolved: str) -> None:
    assert resolve(reference, base) == resolved


@pytest.mark.parametrize("reference", ["g", "", "../g", "http://a/./b", "urn:x"])
def test_without_a_base_nothing_changes(reference: str) -> None:
    assert resolve(reference, None) == reference


@pytest.mark.parametrize(
    ("iri", "absolute"),
    [("http://a", True), ("urn:x:y", True), ("a+b-c.d:e", True), ("//a/b", False), ("1a:b", False), ("", False)],
)
def test_an_absolute_iri_has_a_scheme(iri: str, absolute: bool) -> None:
    assert is_absolute(iri) is absolute
