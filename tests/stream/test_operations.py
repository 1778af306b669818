"""What an operator meets: nothing silently skipped, metrics without readings, a status beside the analyst, units that name real options."""

from __future__ import annotations

import io
import json
import re
import signal
import threading
import time
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.servers.ports import free_port
from tests.stream import support
from wallflower.cli.app import run
from wallflower.cli.stream import process as stream_process
from wallflower.cli.stream.analyst import part_asked
from wallflower.errors import DeclarationError, UsageError
from wallflower.noise.entropy import SeededEntropy
from wallflower.stream import assembly
from wallflower.stream.analyst_loop import AnalystLoop
from wallflower.stream.book import Statement
from wallflower.stream.feed import Feed
from wallflower.stream.metrics import analyst_metrics, sensor_metrics, write_metrics
from wallflower.stream.parser import loads
from wallflower.stream.results import Results
from wallflower.stream.transport import LocalBroker

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def stream_file(tmp_path):
    path = tmp_path / "pumps.toml"
    path.write_text(support.text(window=20, port=free_port()))
    return path


def asked(capfd, *arguments):
    code = run(["stream", *map(str, arguments)])
    captured = capfd.readouterr()
    return code, captured.out, captured.err


def test_an_idle_analyst_that_never_connected_is_no_success(tmp_path, capfd, stream_file):
    code, _, err = asked(capfd, "analyst", stream_file, "-o", tmp_path / "r", "--idle", "0.5")
    assert code == 2
    assert "never reached" in err


def test_a_second_file_with_the_same_book_is_refused_in_words(tmp_path, capfd, stream_file):
    book = assembly.book(loads(stream_file.read_text()), "s", tmp_path / "s.book")
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("flow,pressure\n1,2\n")
    book.start_over(assembly_source(tmp_path / "a.csv"))
    book.close()
    code, _, err = asked(
        capfd, "sensor", stream_file, "--data", tmp_path / "b.csv", "--name", "s", "--book", tmp_path / "s.book"
    )
    assert code == 2
    assert "another file" in err
    assert "--start-over" in err


def assembly_source(path):
    from wallflower.stream.book import Source

    return Source.of(path)


@pytest.mark.parametrize("protocol", ["alarm", "code"])
def test_an_analyst_by_the_clock_counts_slots_and_not_readings(tmp_path, capfd, monkeypatch, protocol):
    """No reading leaves a sensor that speaks by the clock, so no line may say that one was decided."""
    hours = iter(range(0, 10**9, 3600))
    monkeypatch.setattr(stream_process, "time", SimpleNamespace(monotonic=lambda: next(hours)))
    file = tmp_path / "stream.toml"
    port = free_port()
    file.write_text(support.clock_text(port=port) if protocol == "alarm" else support.text(window=20, port=port))
    code, _, err = asked(capfd, "analyst", file, "-o", tmp_path / "r", "--idle", "40000")  # a few looks at the clock
    assert code == 2  # there is no broker
    assert ("0 slots decided" if protocol == "alarm" else "0 readings decided") in err
    assert "no connection to the broker yet" in err


@pytest.mark.parametrize(("protocol", "unit"), [("alarm", "period"), ("code", "reading")])
def test_a_sensor_says_of_what_its_epsilon_is(tmp_path, capfd, monkeypatch, protocol, unit):
    stopped = threading.Event()
    stopped.set()
    monkeypatch.setattr(stream_process, "until_stopped", lambda: stopped)  # before it has sent anything
    file, port = tmp_path / "stream.toml", free_port()
    file.write_text(support.clock_text(port=port) if protocol == "alarm" else support.text(window=20, port=port))
    (tmp_path / "a.csv").write_text("flow,pressure\n1,2\n")
    code, out, _ = asked(
        capfd, "sensor", file, "--data", tmp_path / "a.csv", "--rate", "5", "--name", "s", "--book", tmp_path / "s.book",
        "--json",
    )  # fmt: skip
    assert code == 0
    assert [key for key in json.loads(out) if key.startswith("epsilon_of")] == [f"epsilon_of_a_{unit}"]


def test_bytes_that_are_no_text_on_standard_input_are_one_unreadable_cell_and_end_nothing(monkeypatch):
    came = io.BytesIO(b"flow,pressure\n1,2\n\xff\xfe,3\n4,5\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(came, encoding="utf-8"))
    feed, windows = Feed("-", ["flow", "pressure"], 1, skip=0), []
    while not feed.ended:
        window = feed.take()
        windows += [] if window is None else window.tolist()
        time.sleep(0.01)
    assert str(windows) == "[[1.0, 2.0], [nan, 3.0], [4.0, 5.0]]"


@pytest.mark.parametrize(("written", "told"), [("test = true", "private  NO:"), ("", "private  yes")])
def test_a_stream_for_tests_is_told_as_not_private_though_nobody_gave_a_seed(
    tmp_path, capfd, monkeypatch, written, told
):
    stopped = threading.Event()
    stopped.set()
    monkeypatch.setattr(stream_process, "until_stopped", lambda: stopped)
    file = tmp_path / "stream.toml"
    file.write_text(support.text(port=free_port()).replace("test = true", written))
    (tmp_path / "a.csv").write_text("flow,pressure\n1,2\n")
    code, out, _ = asked(
        capfd, "sensor", file, "--data", tmp_path / "a.csv", "--rate", "5", "--name", "s", "--book", tmp_path / "b"
    )
    assert code == 0
    assert told in re.sub(" +", "  ", out)


def test_by_the_clock_a_file_needs_a_rate(tmp_path, capfd):
    file = tmp_path / "clock.toml"
    file.write_text(support.clock_text(port=free_port()))
    (tmp_path / "a.csv").write_text("flow,pressure\n1,2\n")
    common = ("sensor", file, "--data", tmp_path / "a.csv", "--name", "s", "--book", tmp_path / "s.book")
    code, _, err = asked(capfd, *common)
    assert code == 2
    assert "--rate" in err
    code, _, err = asked(capfd, *common[:-4], "--name", "stranger")
    assert code == 2
    assert "roster" in err


def test_a_changed_epsilon_is_said_to_the_sensor_which_says_why_it_waits():
    old, new = support.declared(), loads(support.text().replace('epsilon = "1"', 'epsilon = "2"', 1))
    broker, topics = LocalBroker(), assembly.topics(old)
    results = Results(None, stream="s", columns={"flow": 0.01, "pressure": 0.01}, facts={})
    analyst = AnalystLoop(assembly.analyst(new), results, broker.connect(topics.heard("analyst")), topics)
    book = assembly.book(old, "s", None)
    sensor = support.window_sensor(old, book, broker.connect(topics.heard("sensor", sensor="s")), SeededEntropy(1))
    sensor.take([np.zeros((100, 2), dtype=np.int64)])
    sensor.turn()
    analyst.turn()
    sensor.turn()
    assert analyst.dropped["another_declaration"] == 1
    assert sensor.waiting == 1
    assert "another declaration" in sensor.outbox.complaint
    book.close()
    results.close()


def test_of_windows_that_a_day_cannot_pay_together_those_that_it_can_are_taken():
    stream = loads(support.text(window=20).replace('per_day = "1000000000"', 'per_day = "150"'))
    book = assembly.book(stream, "s", None)
    sensor = support.window_sensor(stream, book, LocalBroker().connect([]), SeededEntropy(1))
    assert sensor.take_what_fits([np.zeros((20, 2), dtype=np.int64)] * 3) is not None
    assert book.statement().today <= 150 < book.statement().today * 3 / 2
    assert (book.statement().windows, sensor.waiting) == (2, 2)
    book.close()


def test_an_unanswered_sensor_says_so():
    stream, now = support.declared(), [0.0]
    book = assembly.book(stream, "s", None)
    sensor = support.window_sensor(stream, book, LocalBroker().connect([]), SeededEntropy(1), clock=lambda: now[0])
    sensor.take([np.zeros((100, 2), dtype=np.int64)])
    assert sensor.outbox.complaint == ""
    for _ in range(4):
        now[0] += 60
        sensor.turn()
    assert "is the analyst running" in sensor.outbox.complaint
    book.close()


def test_two_sensors_with_one_name_are_named():
    stream, broker = support.declared(window=20), LocalBroker()
    topics = assembly.topics(stream)
    results = Results(None, stream="s", columns={"flow": 0.01, "pressure": 0.01}, facts={})
    analyst = AnalystLoop(assembly.analyst(stream), results, broker.connect(topics.heard("analyst")), topics)
    books = [assembly.book(stream, "s", None) for _ in range(2)]
    twins = [support.window_sensor(stream, book, broker.connect([]), SeededEntropy(1)) for book in books]
    for turn in range(4):
        twins[turn % 2].take([np.zeros((20, 2), dtype=np.int64)])
        twins[turn % 2].turn()
        analyst.turn()
        assert bool(analyst.doubled) is (turn >= 2)  # a new book is no second sensor; an old one that speaks again is
    assert analyst.doubled == {"s"}
    for book in books:
        book.close()
    results.close()


def test_metrics_count_and_say_nothing_of_readings(tmp_path):
    stream, broker = support.declared(window=20), LocalBroker()
    topics = assembly.topics(stream)
    results = Results(None, stream="s", columns={"flow": 0.01, "pressure": 0.01}, facts={})
    analyst = AnalystLoop(assembly.analyst(stream), results, broker.connect(topics.heard("analyst")), topics)
    analyst.dropped["flood"] += 3
    analyst.analyst.dropped["foreign"] += 5  # what the line lets pass and the party refuses counts too

    class Line:
        connections = 1
        dropped = analyst.dropped.__class__(retained=2)
        cut_off = analyst.dropped.__class__({"plant/pumps/noised/0/t": 4})

    write_metrics(tmp_path / "a.prom", analyst_metrics(stream, analyst, Line()))
    text = (tmp_path / "a.prom").read_text()
    for reason, count in (("flood", 3), ("foreign", 5), ("retained", 2)):
        assert f'wallflower_analyst_dropped_total{{stream="pumps",reason="{reason}"}} {count}\n' in text
    assert 'wallflower_analyst_cut_off_total{stream="pumps",sensor="t"} 4' in text
    assert re.fullmatch(r"(# (HELP|TYPE) .*\n|[a-z_]+\{[^}]*\} [-+.\deginf]+\n)+", text)
    assert not re.search("presumed|decided|alarm|outlier", text.replace("Messages decided", ""))
    book = assembly.book(stream, "s", None)
    outbox = support.window_sensor(stream, book, broker.connect([]), SeededEntropy(1)).outbox
    statement = Statement(windows=2, readings=40, waiting=1, event=Fraction(1), today=Fraction(9, 2), total=Fraction(9))
    write_metrics(tmp_path / "s.prom", sensor_metrics(stream, "s", statement, outbox))
    assert 'wallflower_sensor_epsilon_today{stream="pumps",sensor="s"} 4.5' in (tmp_path / "s.prom").read_text()
    book.close()
    results.close()


def test_status_beside_a_running_analyst(tmp_path, capfd, stream_file):
    declared = loads(stream_file.read_text())
    code, _, err = asked(capfd, "status", stream_file, "-o", tmp_path / "none")
    assert code == 2
    assert "no results" in err
    with closing(assembly.results(declared, tmp_path / "r")):
        code, out, _ = asked(capfd, "status", stream_file, "-o", tmp_path / "r", "--json")
    said = json.loads(out)
    assert code == 0
    assert said["not_heard_lately"] == list(declared.roster)
    assert said["last_message"] == "never"
    assert not [key for key in said if " " in key]


def test_a_partition_must_be_the_declarations():
    assert part_asked(None, 4) is None
    assert part_asked("3/4", 4) == 3
    for wrong in ("4/4", "x", "1/2", "-1/4"):
        with pytest.raises(UsageError):
            part_asked(wrong, 4)


@pytest.mark.parametrize("unit", sorted((ROOT / "packaging" / "systemd").glob("*.service")), ids=lambda unit: unit.stem)
def test_a_unit_names_options_that_exist(unit):
    text = unit.read_text()
    command = re.search(r"wallflower stream (\w+)", text)[1]
    page = (ROOT / "docs" / "reference" / "cli.md").read_text()
    help_text = page[page.index(f"wallflower stream {command}") :][:6000]
    options = set(re.findall(r"(--[a-z-]+)", re.search(r"ExecStart=(.*)", text)[1]))
    assert options
    assert all(option in help_text for option in options)
    assert "UMask=0077" in text
    assert "RestartPreventExitStatus=2 3" in text


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('slot = "6h"', 'slot = "7h"', "whole number of slots"),
        ('slot = "6h"', 'slot = "6"', "a length of time"),
        ('slot = "6h"', 'slot = "1ms"', "50ms"),
        ('false_alarms = "0.05"', 'false_alarms = "0"', "above 0 and below 1"),
        ('live_share = "0.6"', 'live_share = "2"', "from 0 to 1"),
        ('epsilon = "4"', "epsilon = 0.5", "in quotes"),
        ('epsilon = "4"', 'epsilon = "4"\nwindow = 3', 'protocol = "code"'),
        ("least_readings = 2", "least_readings = 0", "least_readings"),
        ('per_day = "1000000000"', 'per_day = "3"', "a period costs 4"),
        ('per_day = "1000000000"', 'per_day = "4"\nper_window = "3"', "has no windows"),
        ('"boiler-7"]', '"s"]', "twice"),
        ('"boiler-7"]', '"analyst"]', "another party"),
        ('"boiler-7"]', '"a/b"]', "letters"),
        ('roster = ["s", "t", "boiler-1", "boiler-2", "boiler-7"]', 'roster = "none.txt"', "readable text file"),
    ],
)
def test_a_wrong_clock_is_refused_with_its_line(old, new, expected):
    text = support.clock_text()
    assert old in text
    with pytest.raises(DeclarationError) as caught:
        loads(text.replace(old, new, 1))
    assert expected in f"{caught.value} {caught.value.hint}"
    if "costs" not in expected:
        assert "line " in str(caught.value)


def test_several_mistakes_are_told_at_once_with_their_lines_and_alarm_is_the_default():
    text = support.clock_text().replace('protocol = "alarm"\n', "")
    assert loads(text).protocol == "alarm"
    wrong = text.replace('period = "24h"', 'period = "x"').replace("scale = 5", "scale = 0", 1)
    with pytest.raises(DeclarationError, match="has 2 problems"):
        loads(wrong)


def test_a_roster_may_be_a_file_beside_the_declaration(tmp_path):
    (tmp_path / "roster.txt").write_text("# the east wing\nward-1\n\nward-2\n")
    text = re.sub(r"roster = .*", 'roster = "roster.txt"', support.clock_text())
    assert loads(text, path=tmp_path / "pumps.toml").roster == ("ward-1", "ward-2")


@pytest.mark.parametrize("ignored", [True, False])
def test_a_party_in_the_background_of_a_script_is_not_ended_by_the_interrupt_of_what_runs_before_it(ignored):
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN if ignored else signal.default_int_handler)
        stop = stream_process.until_stopped()
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set() is not ignored
        signal.raise_signal(signal.SIGTERM)
        assert stop.is_set()
    finally:
        for number, how in before.items():
            signal.signal(number, how)
