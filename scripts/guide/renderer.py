"""Renders the Markdown of a page as HTML: headings with anchors, highlighted code, links between pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from penstock.explain.highlighter import highlighted
from penstock.syntax.recognition import recognise
from penstock.syntax.tokens import tokenize

_TAG = re.compile(r"<[^>]+>")
_TITLE = re.compile(r'title="([^"]+)"')
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.MULTILINE)
_LEXERS = {"sh": "bash", "tnt": "turtle", "trig": "turtle"}


@dataclass(frozen=True)
class Rendered:
    """The HTML of a page, its second-level headings, and its sections for the search: (anchor, heading, text)."""

    html: str
    headings: list[tuple[str, str]]
    sections: list[tuple[str, str, str]]


class _Renderer(RendererHTML):
    """Standard HTML, except for code, links and tables."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: dict) -> str:
        language, _, rest = tokens[idx].info.partition(" ")
        title = _TITLE.search(rest)
        named = f'<div class="file">{escape(title[1])}</div>' if title else ""
        return (
            f'<div class="code">{named}<pre class="{language}">{_coloured(tokens[idx].content, language)}</pre></div>\n'
        )

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: dict) -> str:
        href = str(tokens[idx].attrs["href"])
        if not href.startswith("http"):
            tokens[idx].attrs["href"] = re.sub(r"\.md(?=#|$)", ".html", href)
        return self.renderToken(tokens, idx, options, env)

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: dict) -> str:
        return '<div class="table"><table>\n'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: dict) -> str:
        return "</table></div>\n"


def _coloured(code: str, language: str) -> str:
    if language == "sparql":
        return highlighted(code, recognise(tokenize(code)))
    if language == "console":
        return _COMMAND.sub(r'<span class="prompt">$ </span><b>\1</b>', escape(code, quote=False))
    if not language:
        return escape(code)
    return str(highlight(code, get_lexer_by_name(_LEXERS.get(language, language)), HtmlFormatter(nowrap=True)))


def render(text: str) -> Rendered:
    markdown = MarkdownIt("commonmark", {"html": True}, renderer_cls=_Renderer).enable("table")
    tokens = markdown.parse(text)
    headings: list[tuple[str, str]] = []
    taken: set[str] = set()
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            anchor = _anchor(inline.content, taken)
            opening.attrs["id"] = anchor
            if opening.tag == "h2":
                headings.append((anchor, markdown.renderInline(inline.content)))
    html = markdown.renderer.render(tokens, markdown.options, {})
    return Rendered(html, headings, _sections(html))


def _anchor(heading: str, taken: set[str]) -> str:
    plain = re.sub(r"[^\w]+", "-", heading.lower()).strip("-")
    anchor, count = plain, 1
    while anchor in taken:
        count += 1
        anchor = f"{plain}-{count}"
    taken.add(anchor)
    return anchor


def _sections(html: str) -> list[tuple[str, str, str]]:
    parts = re.split(r'<h[1-4] id="([^"]*)">(.*?)</h[1-4]>', html)[1:]
    return [
        (anchor, _plain(heading), _plain(re.sub(r"<svg.*?</svg>", "", body, flags=re.DOTALL)))
        for anchor, heading, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    ]


def _plain(html: str) -> str:
    return re.sub(r"\s+", " ", _TAG.sub(" ", html)).strip()
