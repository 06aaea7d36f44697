"""`penstock bench` as a user meets it: names, tables, files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from matplotlib.figure import Figure as Canvas

from penstock.bench import experiments, plots
from penstock.bench import results as bench_results
from penstock.bench.answers import AnswerMismatchError
from penstock.bench.context import ExperimentContext
from penstock.bench.experiments import EXPERIMENTS, Experiment
from penstock.bench.results import Axis, Figure, Panel, Series, Table, faster_ones, times_as_long
from penstock.cli import commands

TABLE = Table("Times", ("system", "wall [s]", "rows"), (("Penstock", 0.5, 12_000), ("other", 12.25, None)))
LINES = Panel("", Axis("triples", is_logarithmic=True), Axis("time [s]"), (Series("a", ((1, 1.0), (10, 2.0))),))
BARS = Panel("", Axis("query"), Axis("time [s]", is_logarithmic=True), (Series("a", (("Q1", 1.0),)),), "bars")


def run(context: ExperimentContext) -> bench_results.Result:
    """A toy: one second for everything."""
    context.say("at work")
    figure = Figure("toy-picture", "A toy", (LINES, BARS))
    return bench_results.Result((TABLE,), (figure,), ("It is a toy.",))


def bench(*arguments: str) -> Result:
    return CliRunner().invoke(commands, ["bench", *arguments])


class TestCommand:
    def test_the_list(self) -> None:
        result = bench("--list")
        assert result.exit_code == 0
        assert [line.split()[0] for line in result.stdout.splitlines()] == list(EXPERIMENTS)

    def test_every_experiment_says_how_it_is_measured(self) -> None:
        assert all(len(experiment.method) > 200 for experiment in EXPERIMENTS.values())

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["thruoghput"], "did you mean throughput?"),
            (["nothing-like-it"], "there are lubm, "),
            ([], "name an experiment, or all"),
            (["throughput", "--peer", "mine"], "write NAME=COMMAND"),
            (["throughput", "--engine", "flink"], "there is no engine 'flink'"),
            (["throughput", "--scale", "0"], "--scale"),
        ],
    )
    def test_mistakes_get_a_sentence(self, arguments: list[str], sentence: str) -> None:
        result = bench(*arguments)
        assert result.exit_code == 2
        assert sentence in " ".join(result.stderr.split())

    def test_without_matplotlib(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("penstock.bench.plots.can_draw", lambda: False)
        result = bench("throughput")
        assert result.exit_code == 2
        assert "pip install 'penstock[bench]'" in result.stderr

    def test_table_pictures_and_json(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(experiments.EXPERIMENTS, "toy", Experiment("toy", "A toy", __name__))
        result = bench("toy", "--quick", "--out", str(tmp_path / "out"))
        assert result.exit_code == 0, result.stderr
        assert "Penstock     0.500  12,000" in result.stdout
        assert "- It is a toy." in result.stdout
        assert "toy, 0 s: experiment 1 of 1, A toy" in result.stderr
        assert "toy, 0 s: at work" in result.stderr
        document = json.loads((tmp_path / "out" / "toy.json").read_text())
        assert document["experiment"] == "toy"
        assert document["quick"] is True
        assert document["machine"]["cores"] >= 1
        assert set(document) >= {"date", "machine", "versions", "method", "command", "seconds", "remarks"}
        assert document["versions"].keys() >= {"penstock", "python", "duckdb", "pyspark", "pyoxigraph"}
        assert document["tables"][0]["rows"][0] == {"system": "Penstock", "wall [s]": 0.5, "rows": 12_000}
        assert document["figures"][0]["panels"][0]["y"]["label"] == "time [s]"
        assert (tmp_path / "out" / "toy-picture.png").read_bytes().startswith(b"\x89PNG")
        picture = (tmp_path / "out" / "toy-picture.svg").read_text()
        assert "time [s]" in picture
        assert "A toy" in picture

    def test_another_answer_ends_it_with_a_sentence(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def differ(experiment: Experiment, context: ExperimentContext) -> bench_results.Result:
            raise AnswerMismatchError("Penstock on Spark gives another answer than Penstock at 5")

        monkeypatch.setattr(Experiment, "run", differ)
        result = bench("memory", "--out", str(tmp_path))
        assert result.exit_code == 1
        assert "penstock bench: error: Penstock on Spark gives another answer" in result.stderr


class TestResults:
    def test_names_to_the_left_and_numbers_to_the_right(self) -> None:
        assert TABLE.text().splitlines() == [
            "Times",
            "system    wall [s]    rows",
            "──────────────────────────",
            "Penstock     0.500  12,000",
            "other         12.2       –",
        ]

    @pytest.mark.parametrize(
        ("ratio", "words"), [(2, "2.00 × slower"), (0.5, "2.00 × FASTER"), (1.01, "as fast"), (34.4, "34 × slower")]
    )
    def test_who_is_faster_is_said_plainly(self, ratio: float, words: str) -> None:
        assert times_as_long(ratio) == words

    def test_faster_ones(self) -> None:
        assert faster_ones([("a", 2), ("b", 0.5)], "Penstock") == "Faster than Penstock: b (2.00 ×)."
        assert faster_ones([("a", 2)], "Penstock") == "No other measured system is faster than Penstock."


class TestPictures:
    @pytest.mark.parametrize(("names", "columns"), [(2, 2), (3, 3), (4, 2), (6, 3)])
    def test_the_lines_of_a_legend_are_as_long_as_each_other(self, names: int, columns: int) -> None:
        assert plots._legend_columns([f"a name of letters {number}" for number in range(names)], 9) == columns

    def test_who_was_not_measured_takes_no_room(self) -> None:
        axes = Canvas().add_subplot()
        series = (Series("a", (("Q1", 1.0), ("Q2", 2.0))), Series("b", (("Q1", 1.0),)))
        plots._draw_bars(axes, series, {"a": 0, "b": 1})
        middles = [round(bar.get_x() + bar.get_width() / 2, 6) for bar in axes.patches]
        assert middles == [-0.2, 1.0, 0.2]
