"""Jelly next to another implementation: Apache Jena with jelly-jena reads our files, and we read theirs.

Both are fetched with Maven, once, into the cache folder of the user; without Maven or Java the tests skip. For RDF
Messages there is no other implementation to be had: N3.js leaves them to a package that npm does not have.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from io import BytesIO
from pathlib import Path

import pyoxigraph as ox
import pytest
from click.testing import CliRunner
from tests.documents import ROOT

from penstock.cli import commands
from penstock.rdf.formats.jelly import frames_of

pytest.importorskip("pyjelly")

JENA, JELLY = "5.6.0", "3.7.1"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "penstock-peers"
POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>peers</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.jena</groupId><artifactId>jena-cmds</artifactId><version>{JENA}</version></dependency>
    <dependency><groupId>eu.neverblink.jelly</groupId><artifactId>jelly-jena</artifactId><version>{JELLY}</version></dependency>
  </dependencies>
</project>
"""
QUERY = """PREFIX t: <http://example.org/traffic#>
CONSTRUCT { ?gate t:busyWith ?car . ?car t:at [ t:gate ?gate ; t:number 1.5 ; t:said "yes"@en, "no" ] }
FROM STREAM <http://example.org/streams/tollgates> [RANGE 10m STEP 1m]
WHERE { ?gate t:registers ?car }
"""


@pytest.fixture(scope="module")
def jars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = CACHE / f"jena-{JENA}-jelly-{JELLY}"
    if shutil.which("java") is None:
        pytest.skip("Jena needs Java")
    if not found.is_dir():
        if shutil.which("mvn") is None:
            pytest.skip("Jena is fetched with mvn (Maven), which is not installed")
        CACHE.mkdir(parents=True, exist_ok=True)
        part = tmp_path_factory.mktemp("jena")
        (part / "pom.xml").write_text(POM)
        command = ["mvn", "-q", "-B", "-f", part / "pom.xml", "dependency:copy-dependencies", "-DincludeScope=runtime"]
        fetched = subprocess.run([*command, f"-DoutputDirectory={part}/jars"], capture_output=True, text=True)
        if fetched.returncode != 0:
            pytest.skip(f"Maven could not fetch Jena: {fetched.stdout.strip()[-300:]}")
        shutil.copytree(part / "jars", found, dirs_exist_ok=True)
    return found


def riot(jars: Path, *arguments: str | Path) -> bytes:
    """Jena's command for RDF files."""
    ran = subprocess.run(["java", "-cp", f"{jars}/*", "riotcmd.riot", *arguments], capture_output=True)
    assert ran.returncode == 0, ran.stderr.decode()
    return ran.stdout


def canonical(quads: ox.Dataset) -> ox.Dataset:
    quads.canonicalize(ox.CanonicalizationAlgorithm.UNSTABLE)
    return quads


def read(text: bytes, format: ox.RdfFormat) -> ox.Dataset:
    return canonical(ox.Dataset(ox.parse(text, format=format)))


def test_jena_reads_our_frames(jars: Path, tmp_path: Path) -> None:
    (tmp_path / "query.rq").write_text(QUERY)
    stream = ROOT / "examples" / "tollgates" / "tollgates.tnt"
    jelly, trig = tmp_path / "answers.jelly", tmp_path / "answers.trig"
    command = ["run", "--engine", "duckdb", str(tmp_path / "query.rq"), "--stream", str(stream)]
    done = CliRunner().invoke(commands, [*command, "--out", f"{jelly}?format=jelly", "--out", f"{trig}?format=trig"])
    assert done.exit_code == 0, done.output
    expected = read(trig.read_bytes(), ox.RdfFormat.TRIG)
    assert len(expected) > 50
    assert read(riot(jars, "--syntax=jelly", "--out=nq", jelly), ox.RdfFormat.N_QUADS) == expected


def test_we_read_the_frames_of_jena(jars: Path, tmp_path: Path) -> None:
    """Terms of all kinds, in several frames."""
    trig = tmp_path / "given.trig"
    blocks = [
        f"""<http://e/{number}> {{
          <http://e/s{number}> <http://e/p> <http://e/o{number % 7}>, {number}, {number}.5, "a \\"text\\" \U0001f600" .
          _:b{number} <http://e#q> _:b{number}, "{number}"@en-GB, "x{number}"^^<http://e/type>, true }}
        <http://e/{number}> <http://www.w3.org/ns/prov#generatedAtTime> {number} ."""
        for number in range(300)
    ]
    trig.write_text("\n".join(blocks))
    frames = list(frames_of(BytesIO(riot(jars, "--out=jelly", trig)), "jena"))
    assert len(frames) > 1
    quads = (ox.Quad(*triple, graph or ox.DefaultGraph()) for frame in frames for graph, triple in frame)
    assert canonical(ox.Dataset(quads)) == read(trig.read_bytes(), ox.RdfFormat.TRIG)
