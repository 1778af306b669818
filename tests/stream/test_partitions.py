"""Many analysts share one stream: one dies, another takes its part, and every window is decided once; and a thousand connections."""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tests.searched import searched
from tests.servers.ports import free_port
from tests.servers.postgresql import database, server  # noqa: F401 - fixtures
from tests.stream import support
from wallflower.noise.entropy import SeededEntropy
from wallflower.stream import assembly
from wallflower.stream.analyst_loop import AnalystLoop
from wallflower.stream.parser import loads
from wallflower.stream.results import Results
from wallflower.stream.roster import part_of
from wallflower.stream.transport import LocalBroker

TWO = "two"
COLUMNS = {"flow": 0.01, "pressure": 0.01}


def partitioned(names, parts, *, window=20, port=1883):
    text = support.text(window=window, port=port).replace(
        "test = true", f"test = true\npartitions = {parts}\nquota = 5000"
    )
    roster = 'roster = ["s", "t", "boiler-1", "boiler-2", "boiler-7"]'
    return text.replace(roster, "roster = " + json.dumps(names))


def test_a_name_belongs_to_one_part_for_ever():
    assert [part_of(name, 4) for name in ("boiler-1", "boiler-2", "boiler-7")] == [2, 2, 0]
    shared = Counter(part_of(f"s{n}", 4) for n in range(4000))
    assert min(shared.values()) > 850
    stream = loads(partitioned([f"s{n}" for n in range(40)], 4))
    topics = assembly.topics(stream)
    heard = [topic for part in range(4) for topic in topics.heard("analyst", part=part)]
    assert sorted(heard) == sorted(topics.heard("analyst"))
    assert len(set(heard)) == 40


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_part_is_taken_over_and_every_window_is_decided_once(kind, tmp_path, request):
    place = str(tmp_path / "pumps.results") if kind == "sqlite" else request.getfixturevalue("database")
    names = [f"s{n}" for n in range(12)]
    stream, broker = loads(partitioned(names, 4)), LocalBroker()
    topics = assembly.topics(stream)

    def analyst(part):
        line = broker.connect(topics.heard("analyst", part=part))
        results = Results(place, stream="s", columns=COLUMNS, facts={})
        return AnalystLoop(assembly.analyst(stream), results, line, topics, sensors=topics.sensors(part))

    analysts = [analyst(part) for part in range(4)]
    sensors = []
    for name in names:
        book = assembly.book(stream, name, None)
        ear = broker.connect(topics.heard("sensor", sensor=name))
        sensors.append(support.window_sensor(stream, book, ear, SeededEntropy(1), name=name, ahead=4, patience=0.0))
    rng, left = np.random.default_rng(1), dict.fromkeys(names, 10)
    rounds = 0
    while any(left.values()) or any(sensor.waiting for sensor in sensors):
        rounds += 1
        assert rounds < 300
        for sensor in sensors:
            if left[sensor.sensor.name] and sensor.room:
                sensor.take([rng.integers(-100, 100, (20, 2))])
                left[sensor.sensor.name] -= 1
            sensor.turn()
        if (
            rounds == 4
        ):  # dies after it has stored and before it receipts, so that its part is resent to whoever takes over
            analysts[2].transport.send = lambda *_: False
            analysts[2].turn()
            analysts[2].results.close()
            analysts[2] = analyst(2)
            analysts.append(analyst(2))  # and, by mistake, a second one
        for each in analysts:
            each.turn()
    totals = analysts[0].results.totals()
    assert totals[:2] == (120, 2400)
    assert set(analysts[0].results.known()) == {
        (sensor.sensor.name, sensor.outbox.book.series.hex(), number) for sensor in sensors for number in range(10)
    }
    for each in analysts:
        each.results.close()
    for sensor in sensors:
        sensor.outbox.book.close()


def fleet(tmp_path, sensors, windows, *, processes, analysts, kill, patience, window=20):
    """Sensors on a connection each, in few processes; analysts as processes; one of them killed on the way."""
    names, parts = [f"s{n}" for n in range(sensors)], analysts
    port = free_port()
    stream_file = tmp_path / "fleet.toml"
    stream_file.write_text(partitioned(names, parts, port=port, window=window))
    stream = loads(stream_file.read_text())
    broker = support.Mosquitto(tmp_path, stream, {**dict.fromkeys(names, "one"), "analyst": TWO})
    results = tmp_path / "fleet.results"

    def analyst(part):
        return support.party(
            "analyst", str(stream_file), "-o", str(results), "--partition", f"{part}/{parts}", password=TWO
        )

    running = [analyst(part) for part in range(parts)]
    broker.until_heard_by(*(f"analyst {part}" for part in range(parts)))
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": searched(root / "src", root)}
    crews = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.stream.crew", str(stream_file), str(windows), str(patience), ",".join(names[start::processes])],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root,
        )
        for start in range(processes)
    ]  # fmt: skip
    try:
        if kill:
            deadline = time.monotonic() + 400
            while time.monotonic() < deadline and _stored(results) < sensors * windows // 5:
                time.sleep(0.02)
            running[0].send_signal(signal.SIGKILL)
            running[0].communicate()
            running[0] = analyst(0)
        for crew in crews:
            out, complaint = crew.communicate(timeout=920)
            assert crew.returncode == 0, complaint
            assert out.strip() == "all receipted"
        for party in running:
            party.send_signal(signal.SIGTERM)
            _, complaint = party.communicate(timeout=240)
            assert party.returncode == 0, complaint
    finally:
        for process in [*running, *crews]:
            if process.poll() is None:
                process.kill()
                process.communicate()
        broker.stop()
    with closing(sqlite3.connect(results)) as db:
        counts = dict(db.execute("SELECT sensor, count(*) FROM wallflower_windows GROUP BY sensor").fetchall())
    assert counts == dict.fromkeys(names, windows)


def _stored(results):
    if not results.exists():
        return 0
    with closing(sqlite3.connect(results, timeout=10)) as db:
        try:
            return db.execute("SELECT count(*) FROM wallflower_windows").fetchone()[0]
        except sqlite3.OperationalError:
            return 0


@pytest.mark.slow
def test_a_fleet_on_connections_of_its_own_with_an_analyst_killed(tmp_path):
    fleet(tmp_path, sensors=24, windows=6, processes=1, analysts=2, kill=True, patience=1)


@pytest.mark.campaign
def test_a_thousand_connections_and_four_analysts_one_killed(tmp_path):
    """1,000 sensors × 20 windows × 50 readings: a million readings, every window once."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit[1], 8192), limit[1]))  # the broker's, which inherits it
    try:
        fleet(tmp_path, sensors=1000, windows=20, window=50, processes=4, analysts=4, kill=True, patience=5)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)
