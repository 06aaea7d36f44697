"""Kills a run on the embedded engine (SIGKILL) at random points, starts it again, and compares its output.

    python scripts/kill_embedded.py [--kills 10] [--seed 1] [--lines 2000000] [--work FOLDER]

The output must be, byte for byte, that of a run that was not killed.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUERY = """PREFIX : <http://ex.org/>
SELECT ?gate (COUNT(?car) AS ?cars)
FROM STREAM :toll [RANGE 3s STEP 1s]
WHERE { ?gate :lets ?car }
GROUP BY ?gate
"""


def write_stream(file: Path, lines: int, chance: random.Random) -> None:
    """A line each 5 ms; some are out of order, and a few of those are late."""
    with file.open("w") as stream:
        for number in range(lines):
            time_of_line = number * 5 - chance.choice((*[0] * 30, 300, 300, 2500))
            gate, car = chance.randrange(50), chance.randrange(3000)
            stream.write(
                f'<http://ex.org/gate{gate}> <http://ex.org/lets> <http://ex.org/car{car}> "{time_of_line}" .\n'
            )


def command(work: Path, out: str) -> list[str]:
    run = [sys.executable, "-m", "penstock", "run", str(work / "query.rq"), "--engine", "duckdb", "--quiet"]
    run += ["--stream", str(work / "toll.tnt"), "--lateness", "500ms"]
    return [*run, "--out", str(work / f"{out}.jsonl"), "--late", str(work / f"{out}.late")]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lines", type=int, default=2_000_000)
    parser.add_argument("--work", type=Path, default=None)
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="penstock-kill-"))
    chance = random.Random(given.seed)
    (work / "query.rq").write_text(QUERY)
    write_stream(work / "toll.tnt", given.lines, chance)
    began = time.monotonic()
    subprocess.run([*command(work, "whole"), "--checkpoint", str(work / "whole")], check=True, capture_output=True)
    length = time.monotonic() - began
    killed = [*command(work, "killed"), "--checkpoint", str(work / "killed")]
    kills = 0
    while kills < given.kills:
        process = subprocess.Popen(killed, stderr=subprocess.DEVNULL)
        try:  # short ones are killed before their first commit, most of them after some
            status = process.wait(chance.uniform(0.5, 0.6 * length))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            size = (work / "killed.jsonl").stat().st_size if (work / "killed.jsonl").exists() else 0
            print(f"{kills}: killed, {size:,} bytes written", flush=True)
            continue
        assert status == 0, f"the run ended by itself, with status {status}"
        print(f"finished after {kills} kills")
        break
    subprocess.run(killed, check=True, capture_output=True)
    same = [
        (work / f"whole.{kind}").read_bytes() == (work / f"killed.{kind}").read_bytes() for kind in ("jsonl", "late")
    ]
    print(f"{(work / 'whole.jsonl').stat().st_size:,} bytes of results: {'the same' if all(same) else same}")
    return 0 if all(same) else 3


if __name__ == "__main__":
    sys.exit(main())
