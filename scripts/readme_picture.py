"""Writes the picture of README.md: `python scripts/readme_picture.py [FILE]`.

The picture is the timeline, the last part of `penstock explain --format svg` for `examples/tollgates`.
"""

from __future__ import annotations

import re
import sys
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner

from penstock.cli import commands

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "explain.svg"
COMMAND = "explain examples/tollgates/query.rq --stream examples/tollgates/tollgates.tnt --format svg"
MARGIN = 22


def timeline(picture: str) -> str:
    """Removes everything above the timeline."""
    style, body = re.split(r"(?<=</style>\n)", picture, maxsplit=1)
    groups = re.split(r'(?=^<g transform="translate\(\d+ \d+\)">)', body, flags=re.MULTILINE)
    [first] = [place for place, group in enumerate(groups) if ": timeline</text>" in group]
    top = int(re.match(r'<g transform="translate\(\d+ (\d+)\)">', groups[first])[1]) - MARGIN
    width, height = re.search(r'viewBox="0 0 (\S+) (\S+)"', style).groups()
    shown = f'width="{width}" height="{int(height) - top}" viewBox="0 {top} {width} {int(height) - top}"'
    return re.sub(r'width="\S+" height="\S+" viewBox="[^"]+"', shown, style) + groups[0] + "".join(groups[first:])


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE
    with chdir(ROOT):
        drawn = CliRunner().invoke(commands, COMMAND.split(), catch_exceptions=False)
    if drawn.exit_code:
        raise SystemExit(drawn.stderr)
    out.parent.mkdir(exist_ok=True)
    out.write_text(timeline(drawn.stdout), encoding="utf-8")


main()
