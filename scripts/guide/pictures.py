"""Pictures that `penstock explain` draws, made when the guide is built."""

from __future__ import annotations

import re
import shlex
from contextlib import chdir
from html import escape
from pathlib import Path

from click.testing import CliRunner

from penstock.cli import commands

LABELS = {"operators": "The operator graph", "sources": "The denotational graph", "timeline": "The timeline"}
"""The label of each picture in a page of `penstock explain --format html`."""


def picture(argument: str, root: Path) -> str:
    """`timeline examples/tollgates/query.rq --stream …`: that picture of the page that explains the query."""
    name, _, options = argument.partition(" ")
    command = f"penstock explain {options}"
    with chdir(root):
        result = CliRunner().invoke(commands, [*shlex.split(command)[1:], "--format", "html"], catch_exceptions=False)
    if result.exit_code:
        raise SystemExit(f"{command}\n{result.stderr}")
    found = re.search(rf'<svg [^>]*aria-label="{LABELS[name]}".*?</svg>', result.stdout, re.DOTALL)
    if found is None:
        raise SystemExit(f"{command} has no picture {LABELS[name]!r}")
    drawn = re.sub(r"\n\s*\n", "\n", found[0])
    return f"<figure>\n{drawn}\n<figcaption><code>{escape(command)} --format html</code></figcaption>\n</figure>"
