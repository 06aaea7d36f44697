"""Runs whose process is killed (SIGKILL) give the oracle's answer: `scripts/kill_live.py` and `kill_messages.py`.

On Spark a run tries one kill, while windows move to the cluster and back; with PENSTOCK_TESTS=nightly several, in each
way. Over messages that are sent once, a run of the embedded engine is killed two or, at night, twenty times.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.nightly import IS_NIGHTLY

SCRIPTS = Path(__file__).parents[2] / "scripts"
KILLS = 8 if IS_NIGHTLY else 1


@pytest.mark.parametrize("windows", ["auto", "driver", "cluster"] if IS_NIGHTLY else ["auto"])
def test_a_run_that_is_killed(windows: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(SCRIPTS / "kill_live.py"),
        "--kills",
        str(KILLS),
        "--windows",
        windows,
        "--work",
        str(tmp_path),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("kind", ["mqtt", "ws", *(["sse"] if IS_NIGHTLY else [])])
def test_a_run_over_messages_that_is_killed(
    kind: str, mosquitto: dict[str, str], web: dict[str, str], tmp_path: Path
) -> None:
    command = [sys.executable, str(SCRIPTS / "kill_messages.py"), kind, "--kills", "20" if IS_NIGHTLY else "2"]
    ended = subprocess.run([*command, "--work", str(tmp_path)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
