"""Real brokers for tests, started with `scripts/brokers`."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "brokers"
UNAVAILABLE = 2


@dataclass(frozen=True)
class Broker:
    """A broker whose data is in a folder: `kafka`, `mosquitto`. Started again, it has the same data and addresses."""

    name: str
    folder: Path

    def start(self) -> dict[str, str]:
        """Its addresses; skips the test where the broker cannot be had."""
        ran = self._run("start")
        if ran.returncode == UNAVAILABLE:
            pytest.skip(ran.stderr.strip())
        assert ran.returncode == 0, ran.stderr
        addresses: dict[str, str] = json.loads(ran.stdout)[self.name]
        return addresses

    def stop(self, kill: bool = False) -> None:
        ran = self._run("stop", *(["--kill"] if kill else []))
        assert ran.returncode == 0, ran.stderr

    def _run(self, verb: str, *options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, SCRIPT, verb, self.name, "--folder", self.folder, *options]
        return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)
