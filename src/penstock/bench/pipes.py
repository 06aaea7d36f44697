"""Live streams: a named pipe, and a thread that writes to it."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def piped(pieces: Iterable[bytes]) -> Iterator[Path]:
    """A pipe of timestamped N-Triples. Pieces are written as soon as there is room; the reader may stop early."""
    with tempfile.TemporaryDirectory() as folder:
        pipe = Path(folder) / "live.tnt"
        os.mkfifo(pipe)
        threading.Thread(target=_write, args=(pipe, pieces), name="writing a stream", daemon=True).start()
        yield pipe


def _write(pipe: Path, pieces: Iterable[bytes]) -> None:
    with suppress(BrokenPipeError), pipe.open("wb", buffering=0) as stream:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[stream.write(rest) or 0 :]
