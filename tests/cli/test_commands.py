"""The promises of the command line (contract.md): results on stdout, sentences on stderr, 0, 1 or 2, no traceback."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result
from tests.examples import COUPONS, EXAMPLES, QUERIES, ROOMS, TOLLGATES, TURBINES, story

from penstock import __version__
from penstock.cli import commands
from penstock.cli.messages import colour_wanted

FINE = "SELECT * WHERE { ?s ?p ?o }"
WRONG = "SELECT * WHERE { ?s ?p }"
ODD = "SELECT ?sensr WHERE { ?sensor a ?kind }"

COMMANDS = (("check",), ("translate", "--to", "rspql"))
"""What holds for both commands is tried with both."""

both_commands = pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])


def run(*arguments: str | Path, stdin: str | bytes | None = None) -> Result:
    """Runs `penstock` in this process; an exception that the group does not handle is an exception here."""
    given = [str(argument) for argument in arguments]
    return CliRunner().invoke(commands, given, input=stdin, catch_exceptions=False, prog_name="penstock")


def run_process(
    *arguments: str | Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Runs `penstock` as a user does, in a process of its own."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    return subprocess.run(
        [sys.executable, "-m", "penstock", *map(str, arguments)],
        input=given,
        capture_output=True,
        timeout=30,
        env={**os.environ, **(env or {})},
    )


@pytest.fixture
def query_file(tmp_path: Path) -> Callable[[str | bytes, str], Path]:
    def write(content: str | bytes, name: str = "query.rq") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


QueryFile = Callable[..., Path]


class TestHelp:
    def test_version(self) -> None:
        assert run("--version").output == f"penstock {__version__}\n"

    @pytest.mark.parametrize("command", ["check", "translate"])
    def test_each_command_has_examples_and_its_exit_status(self, command: str) -> None:
        text = run(command, "--help").output
        assert "Examples:\n    penstock " in text
        assert "Exit status:" in text

    def test_the_group_names_its_commands_in_whole_sentences(self) -> None:
        text = run("--help").output
        assert "  check      Show the dialect of a query and its mistakes.\n" in text
        assert "  translate  Print a query in another dialect, with the same meaning.\n" in text
        assert "..." not in text.partition("Commands:")[2].partition("Examples:")[0]

    def test_a_command_nearly_named_is_proposed(self) -> None:
        result = run("chekc", "query.rq")
        assert result.exit_code == 2
        assert "did you mean check?" in result.stderr

    def test_other_commands_are_listed(self) -> None:
        assert "there are demo, check, translate" in run("dance").stderr

    def test_no_arguments_at_all_show_the_help(self) -> None:
        assert "Commands:" in run().output

    def test_python_m_penstock_is_the_same_command(self) -> None:
        assert run_process("--version").stdout.decode() == f"penstock {__version__}\n"


class TestCheck:
    def test_a_query_is_summed_up(self) -> None:
        result = run("check", TOLLGATES)
        assert result.exit_code == 0
        assert result.stdout == (
            f"{TOLLGATES}: C-SPARQL, SELECT over 1 stream, ok\n"
            "  registered as the query PassagesPerTollgate\n"
            "  from <http://example.org/streams/tollgates> [RANGE 10m STEP 1m]\n"
        )
        assert result.stderr == ""

    @pytest.mark.parametrize(
        ("example", "summary"),
        [
            ("books", "SPARQL, SELECT, ok"),
            ("coupons", "RSP-QL, SELECT RSTREAM over 2 streams, ok"),
            ("rooms", "CQELS-QL, SELECT over 2 windows on 1 stream, ok"),
            ("sensors", "SPARQLstream, SELECT ISTREAM over 1 stream, ok"),
            ("turbines", "Streaming SPARQL, SELECT over 2 windows on 1 stream, ok"),
        ],
    )
    def test_every_dialect_is_recognised(self, example: str, summary: str) -> None:
        path = EXAMPLES / example / "query.rq"
        assert run("check", path).stdout.splitlines()[0] == f"{path}: {summary}"

    @pytest.mark.parametrize(
        ("text", "details"),
        [
            (
                "PREFIX : <http://ex/> REGISTER ISTREAM :out AS SELECT * FROM NAMED WINDOW :w ON STREAM :s"
                " [RANGE PT90S STEP PT1S] WHERE { WINDOW :w { ?a ?b ?c } }",
                ["registered as the stream <http://ex/out>", "from <http://ex/s> [RANGE 90s STEP 1s] as <http://ex/w>"],
            ),
            (
                "SELECT * FROM NAMED WINDOW <http://ex/w> ON STREAM <http://ex/s> [ELEMENTS 5 STEP 2]"
                " WHERE { WINDOW ?w { ?a ?b ?c } }",
                ["from <http://ex/s> [ELEMENTS 5 STEP 2] as <http://ex/w>"],
            ),
            (
                "REGISTER STREAM Q COMPUTED EVERY 5m AS CONSTRUCT { ?a ?b ?c } FROM STREAM <http://ex/s>"
                " [RANGE TRIPLES 9] WHERE { ?a ?b ?c }",
                ["registered as the stream Q, computed every 5m", "from <http://ex/s> [ELEMENTS 9]"],
            ),
            ("SELECT * WHERE { STREAM ?s [ALL] { ?a ?b ?c } }", ["from ?s [ALL]"]),
            ("SELECT * FROM STREAM <http://ex/s> WHERE { ?a ?b ?c }", ["from <http://ex/s>"]),
            (
                "SELECT * FROM NAMED STREAM <http://ex/s> [NOW - 9 S TO NOW - 1 S]"
                " WHERE { STREAM <http://ex/s> { ?a ?b ?c } }",
                ["from <http://ex/s> [NOW - 9s TO NOW - 1s]"],
            ),
        ],
    )
    def test_windows_are_told_in_words(self, text: str, details: list[str]) -> None:
        result = run("check", "-", stdin=text)
        assert result.exit_code == 0, result.output
        assert [line.strip() for line in result.stdout.splitlines()[1:]] == details

    def test_a_wrong_query_is_shown_with_line_column_caret_and_hint(self) -> None:
        result = run("check", "-", stdin=TOLLGATES.read_text().replace("STEP", "STPE"))
        assert result.exit_code == 2
        lines = result.stderr.splitlines()
        assert lines[0].startswith("<stdin>:6:63: error: ")
        assert lines[1] == " 6 | FROM STREAM <http://example.org/streams/tollgates> [RANGE 10m STPE 1m]"
        assert lines[2] == "   |" + " " * 63 + "^^^^"
        assert lines[3] == "   = did you mean STEP?"
        assert result.stdout == "<stdin>: C-SPARQL, 1 error\n"

    def test_several_errors_are_all_shown(self) -> None:
        result = run("check", "-", stdin="SELECT * WHERE { a:x b:y c:z }")
        assert result.stderr.count(": error: ") == 3
        assert result.stdout == "<stdin>: SPARQL, 3 errors\n"

    def test_warnings_leave_the_exit_status_alone(self) -> None:
        result = run("check", "-", stdin=ODD)
        assert result.exit_code == 0
        assert result.stdout == "<stdin>: SPARQL, SELECT, ok, 1 warning\n"
        assert "<stdin>:1:8: warning: " in result.stderr
        assert "did you mean ?sensor?" in result.stderr

    def test_after_a_wrong_file_the_next_one_follows(self, query_file: QueryFile) -> None:
        wrong = query_file(WRONG, "wrong.rq")
        result = run("check", wrong, wrong.with_name("missing.rq"), TOLLGATES)
        assert result.exit_code == 2
        firsts = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
        assert firsts == [
            f"{wrong}: SPARQL, 1 error",
            f"{wrong.with_name('missing.rq')}: not read",
            f"{TOLLGATES}: C-SPARQL, SELECT over 1 stream, ok",
        ]

    def test_a_dialect_can_be_imposed(self) -> None:
        result = run("check", "--dialect", "cqels", TOLLGATES)
        assert result.exit_code == 2
        assert result.stdout.startswith(f"{TOLLGATES}: CQELS-QL, ")

    def test_a_mixture_of_dialects_has_no_title(self) -> None:
        mixture = (
            "SELECT * FROM STREAM <http://ex/s> [RANGE 1m STEP 1m] WHERE { STREAM <http://ex/t> [NOW] { ?a ?b ?c } }"
        )
        result = run("check", "-", stdin=mixture)
        assert result.exit_code == 2
        assert result.stdout == "<stdin>: 1 error\n"


class TestCheckJson:
    def record(self, *arguments: str | Path, stdin: str | None = None) -> Any:
        (line,) = run("check", "--format", "json", *arguments, stdin=stdin).stdout.splitlines()
        return json.loads(line)

    def test_a_query_that_is_fine(self) -> None:
        assert self.record(COUPONS) == {
            "file": str(COUPONS),
            "dialect": "rspql",
            "ok": True,
            "problems": [],
            "form": "SELECT",
            "operator": "rstream",
            "registered": "http://example.org/shops#deliveries",
            "streams": [
                {
                    "stream": "http://example.org/streams/nearby",
                    "window": "RANGE 5m STEP 1m",
                    "name": "http://example.org/shops#visits",
                },
                {
                    "stream": "http://example.org/streams/coupons",
                    "window": "RANGE 1m STEP 1m",
                    "name": "http://example.org/shops#offers",
                },
            ],
        }

    def test_a_window_inside_a_group_has_no_stream(self) -> None:
        streams = self.record(TURBINES)["streams"]
        assert streams[1] == {"stream": None, "window": "ELEMENTS 2", "name": None}

    def test_a_query_that_is_wrong(self) -> None:
        record = self.record("-", stdin="SELECT *\nWHERE { ?s ?p ex:o }")
        assert (record["file"], record["dialect"], record["ok"]) == ("<stdin>", "sparql", False)
        assert (record["form"], record["streams"]) == (None, [])
        (problem,) = record["problems"]
        assert problem["severity"] == "error"
        assert "ex" in problem["message"]
        assert "PREFIX" in problem["hint"]
        place = [problem[key] for key in ("line", "column", "end_line", "end_column", "start", "end")]
        assert place == [2, 15, 2, 18, 23, 26]

    def test_warnings_are_among_the_problems(self) -> None:
        record = self.record("-", stdin=ODD)
        assert record["ok"] is True
        (problem,) = record["problems"]
        assert problem["severity"] == "warning"

    def test_a_file_that_is_not_there_has_a_line_too(self) -> None:
        record = self.record("missing.rq")
        assert (record["ok"], record["dialect"]) == (False, None)
        (problem,) = record["problems"]
        assert problem["message"] == "there is no such file"
        assert problem["line"] is None

    def test_a_line_for_every_query(self) -> None:
        lines = run("check", "--format", "json", *QUERIES).stdout.splitlines()
        assert [json.loads(line)["file"] for line in lines] == [str(query) for query in QUERIES]


class TestTranslate:
    def test_the_translation_is_all_there_is_on_standard_output(self) -> None:
        result = run("translate", TOLLGATES, "--to", "rspql")
        assert result.exit_code == 0
        assert "[RANGE PT10M STEP PT1M]" in result.stdout
        assert result.stdout.endswith("GROUP BY ?tollgate\n")
        assert result.stderr == ""

    @pytest.mark.parametrize("example", QUERIES, ids=story)
    def test_what_is_printed_is_a_query_again(self, example: Path) -> None:
        translation = run("translate", example, "--to", "rspql")
        assert run("check", "-", "--dialect", "rspql", stdin=translation.stdout).exit_code == 0

    def test_what_the_target_cannot_express_is_named(self) -> None:
        result = run("translate", COUPONS, "--to", "cqels")
        assert result.exit_code == 2
        assert result.stdout == ""
        first, *reasons, hint = result.stderr.splitlines()
        assert first == f"{COUPONS}: error: CQELS-QL cannot express this query, because of"
        assert any("RSTREAM" in reason for reason in reasons)
        assert any("window-close & non-empty" in reason for reason in reasons)
        assert hint == "  = --approximate translates it all the same, and lists the differences"

    def test_an_approximation_lists_every_difference(self) -> None:
        refused = run("translate", COUPONS, "--to", "cqels")
        result = run("translate", COUPONS, "--to", "cqels", "--approximate")
        assert result.exit_code == 0
        assert "STREAM <http://example.org/streams/nearby> [RANGE 5m SLIDE 1m]" in result.stdout
        assert result.stderr.splitlines()[0].startswith(f"{COUPONS}: warning: this is an approximation")
        assert result.stderr.splitlines()[1:] == refused.stderr.splitlines()[1:-1]

    def test_where_no_approximation_is_near_enough_another_way_is_shown(self) -> None:
        for options in ((), ("--approximate",)):
            result = run("translate", ROOMS, "--to", "csparql", *options)
            assert result.exit_code == 2
            assert result.stdout == ""
            assert result.stderr.splitlines()[-1] == "  = RSP-QL can express it: --to rspql"

    def test_the_target_is_required(self) -> None:
        result = run("translate", TOLLGATES)
        assert result.exit_code == 2
        assert "--to" in result.stderr

    @pytest.mark.parametrize(
        ("word", "proposal"), [("rspl", "rspql"), ("RSP-QL", "rspql"), ("CQELS-QL", "cqels"), ("c-sparql", "csparql")]
    )
    def test_a_dialect_nearly_named_is_proposed(self, word: str, proposal: str) -> None:
        result = run("translate", TOLLGATES, "--to", word)
        assert result.exit_code == 2
        assert f"did you mean {proposal}?" in result.stderr

    def test_auto_is_no_dialect_to_translate_to(self) -> None:
        result = run("translate", TOLLGATES, "--to", "auto")
        assert result.exit_code == 2
        assert "there are rspql, csparql, cqels, sparqlstream, streaming-sparql, sparql" in result.stderr

    def test_to_a_file(self, tmp_path: Path) -> None:
        out = tmp_path / "out.rq"
        result = run("translate", TOLLGATES, "--to", "rspql", "--out", out)
        assert (result.exit_code, result.output) == (0, "")
        assert out.read_text() == run("translate", TOLLGATES, "--to", "rspql").stdout

    def test_a_refused_translation_leaves_the_file_alone(self, query_file: QueryFile) -> None:
        out = query_file("as it was")
        assert run("translate", COUPONS, "--to", "cqels", "--out", out).exit_code == 2
        assert out.read_text() == "as it was"

    def test_a_file_that_cannot_be_written(self, tmp_path: Path) -> None:
        result = run("translate", TOLLGATES, "--to", "rspql", "--out", tmp_path / "missing" / "out.rq")
        assert result.exit_code == 2
        assert "cannot be written (No such file or directory)" in result.stderr

    def test_warnings_are_told_as_well(self) -> None:
        result = run("translate", "-", "--to", "sparql", stdin=ODD)
        assert result.exit_code == 0
        assert "warning: " in result.stderr


class TestPrefixAndBase:
    @both_commands
    @pytest.mark.parametrize(
        "declaration",
        [
            "ex=http://ex.org/",
            "ex:=http://ex.org/",
            "ex: <http://ex.org/>",
            "ex=<http://ex.org/>",
            " ex : <http://ex.org/> ",
        ],
    )
    def test_a_prefix_is_taken_as_declared(self, command: tuple[str, ...], declaration: str) -> None:
        query = "SELECT * WHERE { ?s ex:p ?o }"
        assert run(*command, "-", stdin=query).exit_code == 2
        assert run(*command, "-", "--prefix", declaration, stdin=query).exit_code == 0

    def test_several_prefixes_and_the_empty_one(self) -> None:
        options = ("--prefix", "a=http://a/", "--prefix", "=http://empty/")
        result = run("translate", "-", "--to", "sparql", *options, stdin="SELECT * WHERE { ?s a:p :o }")
        assert result.stdout == (
            "PREFIX a: <http://a/>\nPREFIX : <http://empty/>\n\nSELECT *\nWHERE {\n  ?s a:p :o .\n}\n"
        )

    def test_a_translation_declares_only_what_it_needs(self) -> None:
        options = ("--prefix", "a=http://a/", "--prefix", "b=http://b/")
        query = "PREFIX a: <http://own/> SELECT * WHERE { ?s a:p ?o }"
        result = run("translate", "-", "--to", "sparql", *options, stdin=query)
        assert result.stdout.startswith("PREFIX a: <http://own/>\n\n")

    @both_commands
    @pytest.mark.parametrize(
        "declaration", ["http://ex.org/", "ex", "ex=relative", "ex=", "e x=http://a/", "1=http://a/"]
    )
    def test_what_declares_no_prefix_is_refused(self, command: tuple[str, ...], declaration: str) -> None:
        result = run(*command, "-", "--prefix", declaration, stdin=FINE)
        assert result.exit_code == 2
        assert "--prefix" in result.stderr

    def test_a_base_resolves_relative_iris(self) -> None:
        result = run(
            "translate", "-", "--to", "sparql", "--base", "http://ex.org/a/", stdin="SELECT * { ?s <../p> <#o> }"
        )
        assert "?s <http://ex.org/p> <http://ex.org/a/#o> ." in result.stdout

    @both_commands
    def test_a_relative_base_is_refused(self, command: tuple[str, ...]) -> None:
        result = run(*command, "-", "--base", "here", stdin=FINE)
        assert result.exit_code == 2
        assert "'here' is not an absolute IRI" in result.stderr


class TestInput:
    """Whatever is given for QUERY: a sentence, exit status 2, and no traceback."""

    @both_commands
    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"", "this is empty"),
            (b" \n\t\n", "this is empty"),
            (b"# nothing but a comment\n", "found the end of the query"),
            (b"SELECT * { ?s ?p 'caf\xe9' }", "this is not UTF-8 text (byte 0xe9 in line 1)"),
            ("SELECT *".encode("utf-16"), "this is UTF-16 text"),
            (bytes(range(256)), "this is binary data"),
            (b"{" * 10_000, "error"),
            (b"SELECT * " + b"{" * 10_000, "nests deeper than"),
        ],
    )
    def test_what_is_no_query(
        self, command: tuple[str, ...], content: bytes, message: str, query_file: QueryFile
    ) -> None:
        path = query_file(content)
        for argument, stdin, name in ((path, None, str(path)), ("-", content, "<stdin>")):
            result = run(*command, argument, stdin=stdin)
            assert result.exit_code == 2
            assert result.stderr.startswith(name)
            assert message in result.stderr

    @both_commands
    def test_a_missing_file(self, command: tuple[str, ...]) -> None:
        result = run(*command, "missing.rq")
        assert result.exit_code == 2
        assert result.stderr == "missing.rq: error: there is no such file\n"

    @both_commands
    def test_a_directory(self, command: tuple[str, ...]) -> None:
        result = run(*command, EXAMPLES)
        assert result.exit_code == 2
        assert f"{EXAMPLES}: error: this is a directory" in result.stderr

    @both_commands
    def test_a_file_that_may_not_be_read(self, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object) -> None:  # the superuser, whom containers run as, may read every file
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

        monkeypatch.setattr(Path, "open", refuse)
        result = run(*command, TOLLGATES)
        assert result.exit_code == 2
        assert result.stderr == f"{TOLLGATES}: error: cannot be read: permission denied\n"

    @both_commands
    def test_a_query_in_place_of_a_file(self, command: tuple[str, ...]) -> None:
        result = run(*command, FINE)
        assert result.exit_code == 2
        assert "to pass the text of a query, write it to standard input" in result.stderr

    @pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero")
    def test_an_endless_file(self) -> None:
        result = run("check", "/dev/zero")
        assert result.exit_code == 2
        assert "larger than 16 MB" in result.stderr

    @both_commands
    def test_a_byte_order_mark_is_no_part_of_the_query(self, command: tuple[str, ...], query_file: QueryFile) -> None:
        assert run(*command, query_file(b"\xef\xbb\xbf" + FINE.encode())).exit_code == 0

    def test_control_characters_do_not_reach_the_terminal(self) -> None:
        result = run("check", "-", stdin="SELECT * { ?s ?p '\x1b[31m' '\x07' }")
        assert result.exit_code == 2
        assert "␛[31m" in result.stderr
        assert not {"\x1b", "\x07"} & set(result.stderr)

    def test_a_string_of_several_lines_leaves_the_message_on_one(self) -> None:
        result = run("check", "-", stdin="SELECT * { ?s ?p '''a\nb''' '''c\nd''' }")
        assert [line[:3] for line in result.stderr.splitlines()] == ["<st", " 2 ", "   "]


class TestProcess:
    """What only a process of its own shows."""

    def test_a_closed_pipe_is_no_failure(self) -> None:
        # Enough output that the reader is gone before the end of it.
        process = subprocess.Popen(
            [sys.executable, "-m", "penstock", "check", *[str(TOLLGATES)] * 2000],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == f"{TOLLGATES}: C-SPARQL, SELECT over 1 stream, ok\n".encode()
        process.stdout.close()
        _, error = process.communicate(timeout=30)
        assert (process.returncode, error) == (0, b"")

    @pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal on POSIX alone")
    def test_ctrl_c_ends_with_a_sentence(self) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", "penstock", "check", str(TOLLGATES), "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()  # now it waits for standard input
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
        assert process.returncode == 130
        assert error.decode().strip() == "penstock: error: interrupted"

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
    def test_results_that_cannot_be_written_are_a_failed_run(self) -> None:
        with Path("/dev/full").open("wb") as full:
            process = subprocess.run(
                [sys.executable, "-m", "penstock", "check", str(TOLLGATES)], stdout=full, stderr=subprocess.PIPE
            )
        assert process.returncode == 1
        assert process.stderr.decode() == "penstock: error: No space left on device\n"

    def test_a_closed_standard_input(self) -> None:
        process = subprocess.run(
            ["sh", "-c", '"$1" -m penstock check - <&-', "sh", sys.executable], capture_output=True, timeout=30
        )
        assert process.returncode == 2
        assert process.stderr == b"<stdin>: error: standard input is closed\n"

    def test_queries_are_utf_8_in_every_locale(self) -> None:
        env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
        process = run_process("translate", "-", "--to", "sparql", stdin="SELECT * { ?s ?p 'café …' }", env=env)
        assert process.returncode == 0
        assert 'café …"' in process.stdout.decode()

    def test_a_name_that_is_no_text(self) -> None:
        process = subprocess.run(
            [sys.executable, "-m", "penstock", "check", b"\xff.rq"], capture_output=True, timeout=30
        )
        assert process.returncode == 2
        assert process.stderr.decode() == "\ufffd.rq: error: there is no such file\n"

    def test_a_mistake_of_our_own_is_a_sentence_too(self) -> None:
        program = "\n".join(
            [
                "import penstock.cli.check as check, penstock.cli as cli",
                "def fail(*_, **__): raise RuntimeError('no idea')",
                "check.read = fail",
                "cli.main()",
            ]
        )
        process = subprocess.run([sys.executable, "-c", program, "check", str(TOLLGATES)], capture_output=True)
        assert process.returncode == 1
        error = process.stderr.decode()
        assert error.startswith("penstock: error: RuntimeError: no idea")
        assert "this is a mistake in Penstock" in error
        assert "Traceback" not in error


@pytest.mark.skipif(os.name != "posix", reason="there are no pseudo-terminals")
class TestColour:
    def on_a_terminal(self, *arguments: str, **env: str) -> str:
        import pty

        main_end, terminal = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | {"TERM": "xterm", **env}
        process = subprocess.Popen(
            [sys.executable, "-m", "penstock", *arguments], stdout=terminal, stderr=terminal, env=environment
        )
        os.close(terminal)
        output = b""
        try:
            while part := os.read(main_end, 4096):
                output += part
        except OSError:  # Linux: the other end is closed
            pass
        finally:
            os.close(main_end)
            process.wait(timeout=30)
        return output.decode().replace("\r\n", "\n")

    def test_errors_are_coloured_on_a_terminal(self) -> None:
        assert "\x1b[31m\x1b[1merror:\x1b[0m there is no such file" in self.on_a_terminal("check", "missing.rq")

    def test_help_is_coloured_on_a_terminal(self) -> None:
        assert "\x1b[1mUsage:\x1b[0m penstock" in self.on_a_terminal("--help")

    @pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
    def test_colour_can_be_declined(self, env: dict[str, str]) -> None:
        for arguments in (("check", "missing.rq"), ("--help",), ("check", "--help")):
            assert "\x1b" not in self.on_a_terminal(*arguments, **env)

    def test_colour_can_be_declined_outside_of_a_command_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.delenv("NO_COLOR", raising=False)
        assert colour_wanted() is None
        monkeypatch.setenv("NO_COLOR", "1")
        assert colour_wanted() is False

    def test_nothing_is_coloured_in_a_pipe(self) -> None:
        for arguments in (("check", "missing.rq"), ("--help",), ("translate", str(COUPONS), "--to", "cqels")):
            process = run_process(*arguments)
            assert b"\x1b" not in process.stdout + process.stderr

    def test_colour_changes_nothing_but_colour(self) -> None:
        coloured = self.on_a_terminal("check", str(COUPONS), "--dialect", "sparql")
        plain = self.on_a_terminal("check", str(COUPONS), "--dialect", "sparql", NO_COLOR="1")
        assert click.unstyle(coloured) == plain
        assert coloured != plain
