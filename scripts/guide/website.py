"""The guide as a website: its pages, the navigation between them, and the frame around each page."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePosixPath
from string import Template

from pictures import picture
from reference import api_of, commands_as_html
from renderer import Rendered, render

import penstock
from penstock.explain import svg

HERE = Path(__file__).parent
FRONT = "index.md"
_SECTION_OR_LINK = re.compile(r"^## (.+)$|^- \[([^]]+)\]\(([^)]+\.md)\)", re.MULTILINE)
_GENERATED = re.compile(r"^<!-- (commands|api|picture)(?:: (.+?))? -->$", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """A page of the guide: its source in `docs/`, its title, and its part of the guide."""

    source: str
    title: str
    part: str

    @property
    def path(self) -> str:
        return str(PurePosixPath(self.source).with_suffix(".html"))


def contents(docs: Path) -> list[Page]:
    """The pages in the order of the links on the front page, which comes first."""
    pages = [Page(FRONT, "The guide", "")]
    part = ""
    for heading, title, source in _SECTION_OR_LINK.findall((docs / FRONT).read_text(encoding="utf-8")):
        if heading:
            part = heading
        else:
            pages.append(Page(source, title, part))
    return pages


def build(root: Path, out: Path) -> int:
    """Writes all pages and shared files to `out`; returns the number of pages."""
    docs = root / "docs"
    pages = contents(docs)
    _check_complete(docs, pages)
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / "guide.css").write_text(f"{svg.STYLE}\n{(HERE / 'guide.css').read_text()}", encoding="utf-8")
    shutil.copyfile(HERE / "guide.js", out / "guide.js")
    _copy_pictures(docs, out)
    found = []
    for place, page in enumerate(pages):
        rendered = render(_complete((docs / page.source).read_text(encoding="utf-8"), root))
        found += [[page.title, f"{page.path}#{anchor}", heading, text] for anchor, heading, text in rendered.sections]
        target = out / page.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_around(page, rendered, pages, place), encoding="utf-8")
    (out / "search.js").write_text(f"const SECTIONS = {json.dumps(found, ensure_ascii=False)};\n", encoding="utf-8")
    return len(pages)


def _check_complete(docs: Path, pages: list[Page]) -> None:
    there = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    named = {page.source for page in pages}
    if there != named:
        raise SystemExit(f"docs/{FRONT} and the pages there are differ in {', '.join(sorted(there ^ named))}")


def _copy_pictures(docs: Path, out: Path) -> None:
    for source in [*docs.rglob("*.svg"), *docs.rglob("*.png")]:
        target = out / source.relative_to(docs)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _complete(text: str, root: Path) -> str:
    """Inserts the generated parts into the text: commands, API, pictures."""

    def made(found: re.Match[str]) -> str:
        kind, argument = found.groups(default="")
        if kind == "commands":
            return commands_as_html()
        return api_of(argument) if kind == "api" else picture(argument, root)

    return _GENERATED.sub(made, text)


# The frame around a page


def _around(page: Page, rendered: Rendered, pages: list[Page], place: int) -> str:
    base = os.path.relpath(".", PurePosixPath(page.path).parent)
    before = pages[place - 1] if place else None
    after = pages[place + 1] if place + 1 < len(pages) else None
    return Template((HERE / "page.html").read_text(encoding="utf-8")).substitute(
        title=escape(page.title),
        version=penstock.__version__,
        base=base,
        navigation=_navigation(page, rendered, pages, base),
        body=rendered.html,
        before=_neighbour(before, base, "before", "←"),
        after=_neighbour(after, base, "after", "→"),
    )


def _navigation(page: Page, rendered: Rendered, pages: list[Page], base: str) -> str:
    lines, part = [], ""
    for other in pages:
        if other.part != part:
            part = other.part
            lines.append(f"<h2>{escape(part)}</h2>")
        current = ' aria-current="page"' if other == page else ""
        lines.append(f'<a href="{base}/{other.path}"{current}>{escape(other.title)}</a>')
        if other == page and page.part:
            lines += [f'<a class="within" href="#{anchor}">{heading}</a>' for anchor, heading in rendered.headings]
    return "\n".join(lines)


def _neighbour(page: Page | None, base: str, name: str, arrow: str) -> str:
    if page is None:
        return ""
    return f'<a class="{name}" href="{base}/{page.path}"><span>{arrow}</span> {escape(page.title)}</a>'
