"""A sensor that speaks by the clock, killed with −9 over a real broker: no slot is drawn twice, and a broken period stays silent."""

from __future__ import annotations

import random
import signal
import subprocess
import threading
import time
from contextlib import suppress

import pytest

from tests.servers.ports import free_port
from tests.stream import support
from wallflower.stream.messages import Tick, parse
from wallflower.stream.mqtt import Login, MqttTransport
from wallflower.stream.parser import loads
from wallflower.stream.transport import digest_of

USERS = {"boiler-1": "one", "analyst": "two", "spy": "four"}
SLOTS = 8


def feed(process, stop):
    """Readings as they are measured, until the process or the test ends."""
    with suppress(OSError, ValueError):
        process.stdin.write("flow,pressure\n")
        while not stop.is_set() and process.poll() is None:
            process.stdin.write("1,2\n" * 5)
            process.stdin.flush()
            time.sleep(0.05)


def start(stream_file, book):
    process = support.party(
        "sensor", str(stream_file), "--data", "-", "--name", "boiler-1", "--book", str(book), "--json",
        password=USERS["boiler-1"], stdin=subprocess.PIPE,
    )  # fmt: skip
    stop = threading.Event()
    threading.Thread(target=feed, args=(process, stop), daemon=True).start()
    return process, stop


def kill_and_listen(tmp_path, kills):
    stream_file = tmp_path / "clock.toml"
    stream_file.write_text(support.clock_text(period="1s", slot="125ms", port=free_port()))
    stream = loads(stream_file.read_text())
    broker = support.Mosquitto(tmp_path, stream, USERS, more_access=f"\nuser spy\ntopic read {stream.topic_prefix}/#\n")
    login = Login(user="spy", password=USERS["spy"])
    spy = MqttTransport(stream.broker, [f"{stream.topic_prefix}/#"], client="spy", login=login)
    support.until_heard(stream, spy, "boiler-1", USERS["boiler-1"])  # or the first slots might be missed
    digests: dict[int, set[bytes]] = {}
    chance = random.Random(3)

    def listen(seconds, until=lambda: False):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not until():
            delivery = spy.receive(0.1)
            if delivery is not None:
                delivery.done()
                message = parse(delivery.payload)
                if isinstance(message, Tick):
                    digests.setdefault(message.window.number, set()).add(digest_of(delivery.payload))

    analyst = support.party("analyst", str(stream_file), "-o", str(tmp_path / "r"), "--json", password=USERS["analyst"])
    process, stop = start(stream_file, tmp_path / "s.book")
    try:
        for _ in range(kills):
            heard = len(digests)
            listen(240, until=lambda heard=heard: len(digests) >= heard + 3)
            listen(chance.uniform(0.0, 0.6))
            assert len(digests) >= heard + 3, "the sensor never spoke"
            process.send_signal(signal.SIGKILL)
            stop.set()
            process.communicate()
            process, stop = start(stream_file, tmp_path / "s.book")
        heard = len(digests)
        listen(240, until=lambda: len(digests) >= heard + SLOTS)
        process.send_signal(signal.SIGTERM)
        stop.set()
        process.communicate(timeout=240)
        listen(1.0)
    finally:
        for party in (process, analyst):
            if party.poll() is None:
                party.kill()
            party.communicate()
        spy.close()
        broker.stop()
    return digests


def judge(digests, kills):
    assert all(len(seen) == 1 for seen in digests.values()), "a slot was drawn again"
    periods: dict[int, set[int]] = {}
    for number in digests:
        periods.setdefault(number // SLOTS, set()).add(number % SLOTS)
    for slots in periods.values():
        assert slots == set(range(len(slots)))  # from the period's start on, in order, to its end or to the kill
    assert len(periods) > kills  # after a kill it spoke in a later period, never again in the broken one


@pytest.mark.slow
def test_a_killed_clock_draws_nothing_again(tmp_path):
    judge(kill_and_listen(tmp_path, 1), 1)


@pytest.mark.campaign
def test_a_clock_killed_again_and_again_draws_nothing_again(tmp_path):
    judge(kill_and_listen(tmp_path, 16), 16)
