"""Broker, analyst, corrector and sensor are killed (−9) and started again while readings flow; nothing is lost or doubled."""

from __future__ import annotations

import random
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.servers.ports import free_port
from tests.stream import support
from wallflower.stream.messages import Noised, Receipt, parse
from wallflower.stream.mqtt import Login, MqttTransport
from wallflower.stream.parser import loads
from wallflower.stream.transport import digest_of

LATER = 12
"""Windows between two kills, the last of them receipted: every party is at work again before the next."""
RATE = 40
"""Windows a second while parties are killed: without receipts a sensor soon stops, so the readings last, and then come as fast as they can."""
USERS = {"boiler-1": "one", "analyst": "two", "corrector": "three", "spy": "four"}


class Spy:
    """Hears everything that passes the broker, to see what was really sent."""

    def __init__(self, stream) -> None:
        login = Login(user="spy", password=USERS["spy"])
        self.line = MqttTransport(stream.broker, [f"{stream.topic_prefix}/#"], client="spy", login=login)
        self.digests: dict[int, set[bytes]] = {}
        self.copies = 0
        self.receipted = -1
        """The latest window of which the analyst has said that it is stored."""
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._listen, daemon=True)
        self.thread.start()

    def _listen(self) -> None:
        while not self.stopped.is_set():
            delivery = self.line.receive(0.2)
            if delivery is None:
                continue
            delivery.done()
            message = parse(delivery.payload)
            if isinstance(message, Noised):
                self.copies += 1
                self.digests.setdefault(message.window.number, set()).add(digest_of(delivery.payload))
            elif isinstance(message, Receipt):
                self.receipted = max(self.receipted, message.window.number)

    def wait_for_receipts(self, sensor: Party) -> None:
        """Until a window later than all so far is receipted; some may pass while the spy is cut off itself."""
        target = max(list(self.digests), default=-1) + LATER
        self.wait_until(lambda: self.receipted >= target, sensor)

    @staticmethod
    def wait_until(heard: Callable[[], bool], sensor: Party) -> None:
        deadline = time.monotonic() + 400
        while not heard():
            assert sensor.process.poll() is None, "the sensor ended before everything had been killed: slow it down"
            assert time.monotonic() < deadline, "no new window has been heard for minutes"
            time.sleep(0.02)

    def stop(self) -> None:
        self.stopped.set()
        self.thread.join(timeout=10)
        self.line.close()


class Party:
    """A process that can be killed and started again with the same command."""

    def __init__(self, name: str, *arguments: str) -> None:
        self.name, self.arguments = name, arguments
        self.start()

    def start(self) -> None:
        self.process = support.party(*self.arguments, password=USERS[self.name])

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "readings", "window"), [("private", 25_000, 50), ("paper", 12_500, 25)])
def test_every_window_is_decided_exactly_once_whatever_is_killed(tmp_path, protocol, readings, window):
    kill_and_count(tmp_path, protocol, readings, window, rounds=1)


@pytest.mark.campaign
@pytest.mark.parametrize(("protocol", "readings", "window"), [("private", 1_000_000, 2_000), ("paper", 100_000, 125)])
def test_every_window_is_decided_exactly_once_whatever_is_killed_again_and_again(tmp_path, protocol, readings, window):
    kill_and_count(tmp_path, protocol, readings, window, rounds=2)


def kill_and_count(tmp_path, protocol, readings, window, *, rounds):
    stream_file = tmp_path / "pumps.toml"
    stream_file.write_text(support.text(protocol, window=window, port=free_port()).replace(*support.PLAINER))
    stream = loads(stream_file.read_text())
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(readings, 2)) * 4
    pq.write_table(pa.table({"flow": rows[:, 0], "pressure": rows[:, 1]}), tmp_path / "readings.parquet")
    book, results = tmp_path / "boiler-1.book", tmp_path / "pumps.results"
    broker = support.Mosquitto(tmp_path, stream, USERS, more_access=f"user spy\ntopic read {stream.topic_prefix}/#\n")
    spy = Spy(stream)
    parties = {"analyst": Party("analyst", "analyst", str(stream_file), "-o", str(results))}
    if protocol == "paper":
        parties["corrector"] = Party("corrector", "corrector", str(stream_file))
    sensor = Party(
        "boiler-1", "sensor", str(stream_file), "--data", str(tmp_path / "readings.parquet"), "--name", "boiler-1",
        "--book", str(book), "--rate", str(RATE * window),
    )  # fmt: skip
    parties["sensor"] = sensor
    chance = random.Random(7)
    victims = ["broker", *parties] * rounds
    chance.shuffle(victims)
    try:
        for victim in victims:
            spy.wait_for_receipts(sensor)
            time.sleep(chance.uniform(0.0, 0.1))
            assert sensor.process.poll() is None, "the sensor ended before everything had been killed: slow it down"
            if victim == "broker":
                broker.kill()
                time.sleep(chance.uniform(0.0, 0.3))
                broker.start()
            else:
                parties[victim].kill()
                time.sleep(chance.uniform(0.0, 0.3))
                parties[victim].start()
        # Windows that were sent to no analyst have no receipts: a sensor that is killed then has to send them again.
        spy.wait_for_receipts(sensor)
        parties["analyst"].kill()
        with closing(sqlite3.connect(results)) as db:
            decided = {number for (number,) in db.execute("SELECT number FROM wallflower_windows")}
        spy.wait_until(lambda: len(set(spy.digests) - decided) >= 5, sensor)
        sensor.kill()
        sensor.arguments = sensor.arguments[:-2]  # and now as fast as it can
        sensor.start()
        spy.wait_until(lambda: spy.copies > len(spy.digests), sensor)
        parties["analyst"].start()
        _, complaint = sensor.process.communicate(timeout=400)
        assert sensor.process.returncode == 0, complaint
        parties["analyst"].process.send_signal(signal.SIGTERM)
        _, complaint = parties["analyst"].process.communicate(timeout=400)
        assert parties["analyst"].process.returncode == 0, complaint
    finally:
        spy.stop()
        for party in parties.values():
            if party.process.poll() is None:
                party.kill()
        broker.stop()

    expected = [(number, window) for number in range(readings // window)]
    with sqlite3.connect(book) as ledger:
        charged = ledger.execute("SELECT number, units FROM charges ORDER BY number").fetchall()
        assert ledger.execute("SELECT count(*) FROM outbox").fetchone() == (0,)
        (total,) = ledger.execute("SELECT sum(units) FROM days").fetchone()
    with closing(sqlite3.connect(results)) as db:
        decided = db.execute("SELECT number, readings FROM wallflower_windows ORDER BY number").fetchall()
        digests = dict(db.execute("SELECT number, digest FROM wallflower_windows").fetchall())
    assert charged == expected  # the ledger is what was sent, no more and no less
    assert total == readings
    assert decided == expected  # each window once, none lost
    assert all(len(seen) == 1 for seen in spy.digests.values()), "a resend was not the same bytes"
    assert all(digests[number] == seen.copy().pop().hex() for number, seen in spy.digests.items())
    assert set(spy.digests) <= {number for number, _ in charged}
    assert spy.copies > len(spy.digests), "nothing was ever sent again, so nothing was put to the test"
    ledger.close()
