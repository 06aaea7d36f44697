"""Messages: how they are made, how they wait for a commit, and how they wait for a receiver that is away."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pyarrow as pa
import pytest
from tests.sinks.evaluations import ASK, ASKED, CONSTRUCT, SELECT, SELECTED, constructed, ex, typed

from penstock.algebra.model import QueryForm
from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation, from_json_line
from penstock.sinks import SinkError
from penstock.sinks.delivery import Delivery, DeliveryStopped, PassingError, Retries
from penstock.sinks.formats import FormatOptions, variables_of, writer
from penstock.sinks.message_sink import MessageSink
from penstock.sinks.messages import MessageWriter, in_pieces
from penstock.sinks.outbox import Outbox, OutboxPosition


def message_writer(format: str, form: QueryForm, most_bytes: int | None = None) -> MessageWriter:
    return MessageWriter(writer(format, FormatOptions({}, are_messages=True)), variables_of([form]), most_bytes)


def messages(format: str, form: QueryForm, *evaluations: Evaluation, most_bytes: int | None = None) -> pa.Table:
    made = message_writer(format, form, most_bytes)
    return pa.concat_tables([made.messages(batch, range(len(batch))) for batch in map(ResultBatch.of, evaluations)])


def numbered(*times: int) -> list[Evaluation]:
    return [Evaluation("q", time, ("gate", "cars"), ((ex("gate1"), typed(str(time), "integer")),)) for time in times]


class Away:
    """A receiver that knows what it has, or does not. `failures` are what it does when messages come."""

    name = "receiver://here"

    def __init__(self, *failures: int | Exception | None, is_certain: bool = False) -> None:
        self.failures = list(failures)
        self.is_certain = is_certain
        self.keys: list[str] = []
        self.connected = 0
        self.is_closed = False

    def connect(self) -> int | None:
        self.connected += 1
        return len(self.keys) if self.is_certain else None

    def send(self, messages: pa.Table, before: int) -> None:
        keys = messages["key"].to_pylist()
        failure = self.failures.pop(0) if self.failures else None
        if isinstance(failure, Exception):
            raise failure
        self.keys += keys[:failure]
        if failure is not None:
            raise PassingError("receiver://here does not answer", 0 if self.is_certain else failure)

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.sinks.delivery._FIRST_PAUSE", 0.001)
    monkeypatch.setattr("penstock.sinks.delivery._LONGEST_PAUSE", 0.004)


# Messages


def test_each_evaluation_is_a_message() -> None:
    made = messages("jsonl", SELECT, SELECTED, *numbered(9000))
    assert made["key"].to_pylist() == ["q/8000/0", "q/9000/0"]
    assert made["time"].to_pylist() == [8000, 9000]
    assert [from_json_line(value.decode()) for value in made["value"].to_pylist()] == [SELECTED, *numbered(9000)]
    (asked,) = messages("jsonl", ASK, ASKED)["value"].to_pylist()
    assert json.loads(asked)["boolean"] is True


def test_a_message_of_csv_has_a_header_of_its_own() -> None:
    values = messages("csv", SELECT, *numbered(8000, 9000))["value"].to_pylist()
    assert values == [f"time,gate,cars\r\n{t},http://ex.org/gate1,{t}".encode() for t in (8000, 9000)]


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv"])
@pytest.mark.parametrize("most_bytes", [300, 1000, 100_000])
def test_an_evaluation_that_is_too_large_is_divided_by_rows(format: str, most_bytes: int) -> None:
    rows = tuple((ex(f"gate{'x' * (number % 7)}"), typed(str(number), "integer")) for number in range(100))
    before, after = numbered(1, 9)
    made = messages(format, SELECT, before, Evaluation("q", 5, ("gate", "cars"), rows), after, most_bytes=most_bytes)
    assert max(map(len, made["value"].to_pylist())) <= most_bytes
    keys = made["key"].to_pylist()
    assert keys[0] == "q/1/0"
    assert keys[-1] == "q/9/0"
    assert len(set(keys)) == len(keys)
    if format == "jsonl":
        parts = [from_json_line(value.decode()) for value in made["value"].to_pylist()[1:-1]]
        assert tuple(row for part in parts for row in part.rows or ()) == rows
        starts = [sum(len(part.rows or ()) for part in parts[:place]) for place in range(len(parts))]
        assert keys[1:-1] == [f"q/5/{start}" for start in starts]


def test_a_row_that_is_too_large_stays_whole() -> None:
    made = messages("jsonl", SELECT, *numbered(1), most_bytes=10)
    assert made.num_rows == 1


def test_pieces_are_bounded() -> None:
    made = messages("jsonl", SELECT, *numbered(*range(50)))
    size = len(made["value"][0].as_py())
    pieces = list(in_pieces(made, 10 * size + 20))
    assert pa.concat_tables(pieces) == made
    assert 5 <= len(pieces) <= 6
    assert [piece.num_rows for piece in in_pieces(made, 1)] == [1] * 50


# A receiver that is away


@pytest.mark.parametrize("is_certain", [False, True])
def test_what_was_not_confirmed_is_sent_again(is_certain: bool) -> None:
    receiver = Away(0, 2, 0, 1, is_certain=is_certain)
    told: list[str] = []
    delivery = Delivery(receiver, Retries(report=told.append))
    delivery.send(messages("jsonl", SELECT, *numbered(*range(6))), 0)
    assert receiver.keys == [f"q/{number}/0" for number in range(6)]
    assert receiver.connected == 5
    assert told == [
        "receiver://here does not answer; waiting for it",
        "receiver://here takes messages again, after 0 seconds",
    ]
    assert delivery.sent == 6


def test_the_waiting_ends() -> None:
    receiver = Away(*[0] * 1000)
    with pytest.raises(SinkError, match=r"does not answer \(tried for 0.02 s; --retry-timeout sets how long to try\)"):
        Delivery(receiver, Retries(timeout=0.02)).send(messages("jsonl", SELECT, *numbered(1)), 0)


def test_the_waiting_is_stopped() -> None:
    receiver, retries = Away(*[0] * 1_000_000), Retries()
    threading.Timer(0.05, retries.stopped.set).start()
    with pytest.raises(DeliveryStopped):
        Delivery(receiver, retries).send(messages("jsonl", SELECT, *numbered(1)), 0)


def test_an_error_that_does_not_pass_is_not_waited_for() -> None:
    receiver = Away(SinkError("receiver://here rejects it"))
    with pytest.raises(SinkError, match="rejects it"):
        Delivery(receiver, Retries()).send(messages("jsonl", SELECT, *numbered(1)), 0)


# Messages that wait for a commit


class Run:
    """A sink with an outbox, in a process that may be killed: what was not closed is forgotten."""

    def __init__(self, folder: Path, receiver: Away, written: OutboxPosition | None = None) -> None:
        self.outbox = Outbox(folder, 0, written)
        delivery = Delivery(receiver, Retries(), self.outbox.sent)
        self.sink = MessageSink(message_writer("jsonl", SELECT), delivery, self.outbox)
        self.sink.deliver()

    def write(self, *times: int) -> None:
        for evaluation in numbered(*times):
            self.sink.write(ResultBatch.of(evaluation))
        self.sink.flush()


@pytest.mark.parametrize("is_certain", [False, True])
def test_messages_leave_after_the_commit(tmp_path: Path, is_certain: bool) -> None:
    receiver = Away(is_certain=is_certain)
    run = Run(tmp_path, receiver)
    run.write(1, 2)
    assert receiver.keys == []
    run.sink.position()
    assert receiver.keys == []
    run.sink.deliver()
    assert receiver.keys == ["q/1/0", "q/2/0"]
    assert list(tmp_path.iterdir()) == []


def test_a_run_goes_on_wherever_it_was_killed(tmp_path: Path) -> None:
    receiver = Away(is_certain=True)
    killed = Run(tmp_path, receiver)
    killed.write(1)
    committed = killed.sink.position()
    killed.sink.deliver()
    killed.write(2, 3)
    killed.sink.position()  # and killed before the commit

    second = Run(tmp_path, receiver, committed)
    assert receiver.keys == ["q/1/0"]
    second.write(2)
    second.write(3)
    committed = second.sink.position()  # and killed before the delivery

    third = Run(tmp_path, receiver, committed)
    assert receiver.keys == ["q/1/0", "q/2/0", "q/3/0"]
    third.write(4, 5, 6)
    committed = third.sink.position()
    receiver.failures = [2, SinkError("killed")]  # killed during the delivery
    with pytest.raises(SinkError):
        third.sink.deliver()
    assert receiver.keys == [f"q/{number}/0" for number in (1, 2, 3, 4, 5)]

    fourth = Run(tmp_path, receiver, committed)
    assert receiver.keys == [f"q/{number}/0" for number in range(1, 7)]
    fourth.write(7)
    committed = fourth.sink.position()
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    fourth.sink.deliver()
    file.write_bytes(content)  # killed before the file was removed

    Run(tmp_path, receiver, committed)
    assert receiver.keys == [f"q/{number}/0" for number in range(1, 8)]
    assert list(tmp_path.iterdir()) == []


def test_a_receiver_that_does_not_know_what_it_has_receives_the_same_messages_again(tmp_path: Path) -> None:
    receiver = Away()
    killed = Run(tmp_path, receiver)
    killed.write(1, 2, 3)
    committed = killed.sink.position()
    receiver.failures = [2, SinkError("killed")]
    with pytest.raises(SinkError):
        killed.sink.deliver()
    Run(tmp_path, receiver, committed)
    assert list(dict.fromkeys(receiver.keys)) == ["q/1/0", "q/2/0", "q/3/0"]


def test_without_a_checkpoint_messages_leave_at_once() -> None:
    receiver = Away()
    sink = MessageSink(message_writer("trig", CONSTRUCT), Delivery(receiver, Retries()), None)
    with sink:
        sink.write(ResultBatch.of(constructed(1, ex("a"))))
        sink.flush()
        assert receiver.keys == ["a query/1/0"]
        sink.write(ResultBatch.of(constructed(2, ex("a"))))
    assert receiver.keys == ["a query/1/0", "a query/2/0"]
    assert receiver.is_closed
