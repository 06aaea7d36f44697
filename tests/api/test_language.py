"""What `import penstock` offers to a program."""

from __future__ import annotations

import doctest
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from tests import examples

import penstock as ps
import penstock.api.language
import penstock.syntax.query_reader
from penstock.syntax.dialects import DIALECTS

COUPONS = examples.COUPONS.read_text()
WRONG = "SELECT * WHERE { ?s ex:p }"


class TestPackage:
    def test_every_public_name_is_there_and_documented(self) -> None:
        for name in ps.__all__:
            assert name in dir(ps)
            value = getattr(ps, name)
            assert value.__doc__, name

    def test_a_name_that_is_not_there(self) -> None:
        with pytest.raises(AttributeError, match="module 'penstock' has no attribute 'pares'"):
            ps.pares  # type: ignore[attr-defined]  # noqa: B018

    def test_importing_it_loads_nothing_else(self) -> None:
        program = "import sys, penstock; print(*(name for name in sys.modules if name.startswith('penstock')))"
        loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        assert loaded == "penstock\n"

    def test_it_is_typed(self) -> None:
        assert Path(ps.__file__).with_name("py.typed").exists()

    @pytest.mark.parametrize(
        "module", [penstock.api.language, penstock.syntax.query_reader], ids=lambda module: module.__name__
    )
    def test_the_examples_of_the_docstrings_are_true(self, module: object) -> None:
        assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]


class TestParse:
    @pytest.mark.parametrize("path", examples.QUERIES, ids=examples.story)
    def test_the_dialect_is_recognised(self, path: Path) -> None:
        assert ps.parse(path.read_text()).dialect == examples.DIALECTS[examples.story(path)]

    def test_prefixes_and_base_are_taken_as_declared(self) -> None:
        given = ps.parse("SELECT * { ?s ex:p <o> }", prefixes={"ex": "http://ex.org/"}, base="http://base/")
        assert given.where == ps.parse("SELECT * { ?s <http://ex.org/p> <http://base/o> }").where
        assert given.prologue.base == "http://base/"

    def test_a_wrong_query_raises_its_problems(self) -> None:
        with pytest.raises(ps.QuerySyntaxError) as caught:
            ps.parse(WRONG)
        assert [problem.severity for problem in caught.value.problems] == ["error"] * len(caught.value.problems)
        assert "query:1:21: error: " in str(caught.value)

    def test_there_is_no_such_dialect(self) -> None:
        with pytest.raises(ValueError, match="there is no dialect 'sql'"):
            ps.parse(COUPONS, "sql")


class TestCheck:
    def test_nothing_to_complain_about(self) -> None:
        assert ps.check(COUPONS) == []

    def test_errors_are_returned_where_parse_raises_them(self) -> None:
        with pytest.raises(ps.QuerySyntaxError) as caught:
            ps.parse(WRONG)
        assert ps.check(WRONG) == list(caught.value.problems)

    def test_warnings_too(self) -> None:
        (problem,) = ps.check("SELECT ?x { ?s ?p ?o }")
        assert isinstance(problem, ps.Problem)
        assert problem.severity == "warning"

    @pytest.mark.parametrize("text", ["", "\0", "SELECT", "{" * 5000, "SELECT * " + "{" * 5000, "\ud800", "é…\u2028"])
    def test_no_text_raises_anything(self, text: str) -> None:
        assert ps.check(text)

    def test_dialect_prefixes_and_base(self) -> None:
        assert ps.check("SELECT * { ?s ex:p ?o }", prefixes={"ex": "http://ex.org/"}, base="http://base/") == []
        assert ps.check(COUPONS, "cqels") != []


class TestTranslate:
    def test_the_same_query_in_another_dialect(self) -> None:
        translated = ps.translate(COUPONS, to="csparql")
        assert ps.parse(translated).dialect == "csparql"

    @pytest.mark.parametrize("path", examples.QUERIES, ids=examples.story)
    def test_to_its_own_dialect_it_is_the_same_query(self, path: Path) -> None:
        query = ps.parse(path.read_text())
        assert ps.parse(ps.translate(path.read_text(), query.dialect)) == query

    def test_what_the_target_cannot_express(self) -> None:
        with pytest.raises(ps.TranslationError) as caught:
            ps.translate(COUPONS, to="cqels")
        assert caught.value.target == "CQELS-QL"
        assert any("RSTREAM" in reason for reason in caught.value.reasons)

    def test_an_approximation_warns_of_every_difference(self) -> None:
        with pytest.raises(ps.TranslationError) as caught:
            ps.translate(COUPONS, to="cqels")
        with pytest.warns(UserWarning, match="CQELS-QL cannot express") as told:
            translated = ps.translate(COUPONS, to="cqels", approximate=True)
        assert [str(warning.message) for warning in told] == str(caught.value).splitlines()
        assert all(warning.filename == __file__ for warning in told)
        assert ps.parse(translated).dialect == "cqels"

    def test_a_faithful_translation_warns_of_nothing(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert ps.translate(COUPONS, to="csparql", approximate=True) == ps.translate(COUPONS, to="csparql")

    def test_a_wrong_query(self) -> None:
        with pytest.raises(ps.QuerySyntaxError):
            ps.translate(WRONG, to="rspql")

    def test_there_is_no_such_dialect(self) -> None:
        with pytest.raises(ValueError, match="there is no dialect 'rspl'; did you mean rspql"):
            ps.translate(COUPONS, to="rspl")
        with pytest.raises(ValueError, match=f"there are {', '.join(DIALECTS)}"):
            ps.translate(COUPONS, to="auto")

    def test_given_prefixes_are_declared_where_they_are_of_use(self) -> None:
        prefixes = {"ex": "http://ex.org/", "other": "http://other.org/"}
        translated = ps.translate("SELECT * { ?s ex:p ?o }", to="sparql", prefixes=prefixes)
        assert translated.startswith("PREFIX ex: <http://ex.org/>\n\nSELECT *\n")
        assert "?s ex:p ?o" in translated
