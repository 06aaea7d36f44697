"""Runs on Spark whose process is killed (SIGKILL) give the oracle's answer: `scripts/kill_live.py`.

A run tries one kill, while windows move to the cluster and back; with PENSTOCK_TESTS=nightly several, in each way.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.nightly import IS_NIGHTLY

SCRIPT = Path(__file__).parents[2] / "scripts" / "kill_live.py"
KILLS = 8 if IS_NIGHTLY else 1


@pytest.mark.parametrize("windows", ["auto", "driver", "cluster"] if IS_NIGHTLY else ["auto"])
def test_a_run_that_is_killed(windows: str, tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), "--kills", str(KILLS), "--windows", windows, "--work", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
