"""README.md, the guide and the examples' own pages: every block of code in them is run, and the guide can be built."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import click
import pytest
from pyspark.sql import SparkSession
from tests.documents import (
    BY_NIGHT,
    KAFKA,
    KINDS,
    MQTT,
    ONLY_READ,
    ROOT,
    WEB,
    WEBHOOK,
    WEBSOCKET,
    Reader,
    blocks,
    pages,
)
from tests.endpoint import sparql_server
from tests.sinks.webhooks import webhook

import penstock
from penstock.cli import commands

PAGES = pages()
ON_SPARK = [page for page in PAGES if any(block.needs_spark for block in blocks(page))]

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def try_out(page: Path, folder: Path, request: pytest.FixtureRequest, **names: object) -> None:
    """A page about a broker is skipped where it cannot be had."""
    text = page.read_text(encoding="utf-8")
    brokers = {
        KAFKA: ("kafka", "address"),
        MQTT: ("mosquitto", "address"),
        WEB: ("web", "http"),
        WEBSOCKET: ("web", "ws"),
    }
    servers = {
        named: request.getfixturevalue(broker)[address].rpartition("/")[2]
        for named, (broker, address) in brokers.items()
        if named in text
    }
    with sparql_server((ROOT / "examples" / "rooms" / "floorplan.ttl").read_text()) as server, webhook() as hook:
        reader = Reader(folder, server.address, names, {**servers, WEBHOOK: hook.address})
        if page.is_relative_to(ROOT / "examples"):
            reader.here /= page.parent.relative_to(ROOT)
        try:
            for block in blocks(page):
                try:
                    reader.read(block)
                except Exception as error:
                    raise AssertionError(f"{page.relative_to(ROOT)}, line {block.line}: {error}") from error
        finally:
            reader.stop()


@each_page
def test_every_block_is_of_a_kind_that_is_tried(page: Path) -> None:
    assert {block.kind for block in blocks(page) if not block.title} <= KINDS
    assert page.read_text(encoding="utf-8").count("\n```") == 2 * len(blocks(page))


def test_nothing_is_left_out_that_is_not_there() -> None:
    lines = [line for page in PAGES for block in blocks(page) if block.kind == "sh" for line in block.lines]
    assert [pattern for pattern in (*ONLY_READ, *BY_NIGHT) if not any(re.match(pattern, line) for line in lines)] == []


def tried(pages: list[Path]) -> list[Any]:
    """Pages for a test; those that need a broker are marked."""
    marked = [(page, [pytest.mark.broker] if needs_broker(page) else []) for page in pages]
    return [pytest.param(page, marks=marks, id=str(page.relative_to(ROOT))) for page, marks in marked]


def needs_broker(page: Path) -> bool:
    text = page.read_text(encoding="utf-8")
    return KAFKA in text or MQTT in text


@pytest.mark.parametrize("page", tried([page for page in PAGES if page not in ON_SPARK]))
def test_a_page_says_what_is_so(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    try_out(page, tmp_path, request)


@pytest.mark.parametrize("page", tried(ON_SPARK))
def test_a_page_with_spark_says_what_is_so(
    page: Path, tmp_path: Path, spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    """As in a notebook, there is a session."""
    try_out(page, tmp_path, request, spark=spark)


# The guide as pages


class Links(HTMLParser):
    """What a page refers to, what it loads, and what in it can be referred to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name == "href" and value and tag == "a":
                self.hrefs.append(value)
            elif name in {"src", "href", "srcset", "data"} and value:
                self.loaded.append(value)


@pytest.fixture(scope="module")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guide, built as `make docs` builds it."""
    out = tmp_path_factory.mktemp("guide") / "docs"
    built = subprocess.run(
        [sys.executable, ROOT / "scripts" / "guide", out], capture_output=True, encoding="utf-8", timeout=120
    )
    assert built.returncode == 0, built.stderr
    assert built.stdout.endswith(f"open {out / 'index.html'}\n")
    return out


def test_every_page_is_built(guide: Path) -> None:
    sources = {page.relative_to(ROOT / "docs").with_suffix("") for page in (ROOT / "docs").rglob("*.md")}
    assert {page.relative_to(guide).with_suffix("") for page in guide.rglob("*.html")} == sources


def test_nothing_comes_from_the_network(guide: Path) -> None:
    for page in guide.rglob("*.html"):
        for loaded in Links(page).loaded:
            assert "//" not in loaded, f"{page.name} loads {loaded}"
            assert (page.parent / loaded).exists(), f"{page.name} loads {loaded}, which is not there"
    assert "url(" not in (guide / "guide.css").read_text()
    assert "@import" not in (guide / "guide.css").read_text()


def test_every_link_leads_somewhere(guide: Path) -> None:
    links = {page.resolve(): Links(page) for page in guide.rglob("*.html")}
    for page, found in links.items():
        for href in found.hrefs:
            path, _, anchor = href.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target in links, f"{page.name} links to {href}"
            assert not anchor or anchor in links[target].anchors, f"{page.name} links to {href}"


def test_every_command_and_every_option_is_there(guide: Path) -> None:
    page = (guide / "commands.html").read_text(encoding="utf-8")
    with click.Context(commands) as context:
        for name in commands.list_commands(context):
            command = commands.get_command(context, name)
            assert command is not None
            section = page.partition(f'<h2 id="penstock-{name}">')[2].partition("<h2")[0]
            options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
            assert [option for option in options if option not in section] == []


def test_every_public_name_is_there() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^<!-- api: (\w+) -->$", page, re.MULTILINE))
    assert told == set(penstock.__all__) - {"__version__"}


def test_the_pictures_are_drawn(guide: Path) -> None:
    source = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    page = (guide / "semantics.html").read_text(encoding="utf-8")
    assert page.count("<svg ") == source.count("<!-- picture: ") > 0
    assert "<!-- " not in page
