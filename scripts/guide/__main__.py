"""Builds the guide: `python scripts/guide [FOLDER]` makes a folder of pages that need nothing from the network."""

from __future__ import annotations

import sys
from pathlib import Path

from website import build

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "docs"
    pages = build(ROOT, out)
    print(f"{pages} pages; open {out / 'index.html'}")


main()
