"""One run at a time uses a checkpoint, tried with processes of their own; one that was killed leaves no lock behind."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from penstock.runtime import checkpoint_locks
from penstock.runtime.checkpoints import CheckpointError, DatabaseCheckpoint, FolderCheckpoint

KINDS = {"duckdb": DatabaseCheckpoint, "spark": partial(FolderCheckpoint, store=None)}
_RUN = """
import sys
from pathlib import Path
from tests.runtime.test_checkpoint_locks import KINDS
kept = KINDS["{kind}"](Path(sys.argv[1]), "this run")
print("ready", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_run(kind: type[Any], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that uses the checkpoint until it is killed."""
    code = _RUN.format(kind=next(name for name, known in KINDS.items() if known is kind))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code, str(folder)], text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Callable[[Path, str], Any]:
    return KINDS[request.param]


def test_the_second_run_is_refused_until_the_first_is_killed(kind: type[Any], tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    with another_run(kind, folder) as process:
        with pytest.raises(CheckpointError) as raised:
            kind(folder, "this run")
        assert re.fullmatch(
            rf"{re.escape(str(folder))}: this checkpoint is in use by process {process.pid} on "
            rf"{re.escape(socket.gethostname())} since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC: "
            "wait until it has ended, stop it, or name another folder",
            str(raised.value),
        )
        assert process.poll() is None
        process.kill()
        process.wait()
        kind(folder, "this run").close()


def test_runs_of_one_process_are_apart_as_well(kind: type[Any], tmp_path: Path) -> None:
    first = kind(tmp_path, "this run")
    with pytest.raises(CheckpointError, match=f"in use by process {os.getpid()} "):
        kind(tmp_path, "this run")
    first.close()
    kind(tmp_path, "this run").close()


class TestWithoutLocksOfTheSystem:
    """As on a file system that has none: what the file says decides."""

    @pytest.fixture(autouse=True)
    def _no_locks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(checkpoint_locks, "fcntl", None)

    def test_a_process_that_is_there(self, tmp_path: Path) -> None:
        kept = FolderCheckpoint(tmp_path, "this run", None)
        with pytest.raises(CheckpointError, match=f"If that process is gone, remove {tmp_path / 'lock'}"):
            FolderCheckpoint(tmp_path, "this run", None)
        kept.close()
        FolderCheckpoint(tmp_path, "this run", None).close()

    def test_a_process_that_is_gone(self, tmp_path: Path) -> None:
        with subprocess.Popen([sys.executable, "-c", ""]) as process:
            process.wait()
        self.write(tmp_path, process.pid, socket.gethostname())
        FolderCheckpoint(tmp_path, "this run", None).close()

    def test_a_process_elsewhere(self, tmp_path: Path) -> None:
        self.write(tmp_path, 1, "elsewhere")
        with pytest.raises(CheckpointError, match="in use by process 1 on elsewhere since yesterday"):
            FolderCheckpoint(tmp_path, "this run", None)

    def write(self, folder: Path, pid: int, host: str) -> None:
        (folder / "lock").write_text(json.dumps({"pid": pid, "host": host, "since": "yesterday"}))


def test_a_checkpoint_of_an_older_version_is_called_so(tmp_path: Path) -> None:
    kept = DatabaseCheckpoint(tmp_path / "kept", "this run")
    kept.begin()
    kept._fingerprint = "this run"  # the fingerprint itself, which versions before kept in place of its hash
    kept.commit(0, {}, has_finished=False)
    kept.close()
    with pytest.raises(CheckpointError, match=r"was written by an older version of Penstock.* remove this one"):
        DatabaseCheckpoint(tmp_path / "kept", "this run")
    with pytest.raises(CheckpointError, match="was written by an older version"):
        DatabaseCheckpoint(tmp_path / "kept", "another run")


def test_a_checkpoint_of_another_run_is_called_so(kind: type[Any], tmp_path: Path) -> None:
    kept = kind(tmp_path / "kept", "this run")
    if isinstance(kept, DatabaseCheckpoint):
        kept.begin()
        kept.commit(0, {}, has_finished=False)
    kept.close()
    with pytest.raises(CheckpointError, match="belongs to another run"):
        kind(tmp_path / "kept", "another run")
