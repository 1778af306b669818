"""Nobody stops the others: floods, oversized, retained, replayed and forged messages beside honest sensors, over mosquitto."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from tests.servers.ports import free_port
from tests.stream import support
from wallflower.noise.entropy import SeededEntropy
from wallflower.stream import assembly
from wallflower.stream.analyst_loop import AnalystLoop
from wallflower.stream.messages import Noised, Window
from wallflower.stream.mqtt import Login, MqttTransport
from wallflower.stream.parser import loads
from wallflower.stream.quota import FORGIVEN, LONGEST_WAIT, Quotas
from wallflower.stream.results import Results

USERS = {"boiler-1": "one", "boiler-2": "two", "boiler-7": "seven", "analyst": "three"}


def test_a_bucket_lets_twice_the_rate_through_and_waits_double():
    quotas = Quotas(10)
    assert sum(quotas.fair("a", 0.0) for _ in range(100)) == 20
    assert sum(quotas.fair("a", 1.0) for _ in range(100)) == 20
    assert quotas.fair("b", 1.0)  # another topic has a bucket of its own
    waits, now = [], 1.0
    for _ in range(12):
        assert quotas.cut_off("a", now)
        assert not quotas.cut_off("a", now)
        assert quotas.is_cut_off("a")
        start = now
        while not quotas.due(now):
            now += 0.5
        waits.append(now - start)
        assert not quotas.is_cut_off("a")
    assert waits[:4] == [1.0, 2.0, 4.0, 8.0]
    assert waits[-1] == LONGEST_WAIT
    now += FORGIVEN + 1
    quotas.cut_off("a", now)
    assert quotas.due(now + 1.0) == ["a"]  # forgiven: a short wait again


def test_buckets_are_counted_by_one_thread_while_another_asks():
    """A new sensor's first message while the analyst looks whose wait is over: without a lock that ended the analyst."""
    quotas, stop, troubles = Quotas(10), threading.Event(), []

    def count():
        place = 0
        while not stop.is_set():
            quotas.fair(f"topic {place}", 0.0)
            place += 1

    counter = threading.Thread(target=count, daemon=True)
    counter.start()
    try:
        for _ in range(300):
            try:
                quotas.due(0.0)
            except RuntimeError as trouble:
                troubles.append(trouble)
    finally:
        stop.set()
        counter.join()
    assert troubles == []


def flood(stream, qos, stop, sent):
    """An authenticated sensor that says as much as it can: well-formed messages under its own name."""
    from paho.mqtt import client as paho

    client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id="flood", protocol=paho.MQTTv5)
    client.username_pw_set("boiler-7", USERS["boiler-7"])
    client.max_inflight_messages_set(1000)
    client.max_queued_messages_set(0)
    client.connect("127.0.0.1", int(stream.broker.rsplit(":", 1)[1]))
    client.loop_start()
    topic = assembly.topics(stream).of("noised", "boiler-7")
    readings = np.zeros((20, 2), dtype=np.int64)
    number = 0
    while not stop.is_set():
        for _ in range(200):
            window = Window(stream=stream.fingerprint, sensor="boiler-7", series=bytes(8), number=number)
            message = Noised(window=window, readings=readings, codes=np.zeros(20, dtype=np.uint8), layers=2)
            client.publish(topic, message.encode() if number % 2 else b"noise" * 20, qos=qos)
            number += 1
        sent[0] = number
        time.sleep(0.02)
    client.disconnect()
    client.loop_stop()
    client._reset_sockets()


def honest(stream, name, windows):
    book = assembly.book(stream, name, None)
    line = MqttTransport(
        stream.broker,
        assembly.topics(stream).heard("sensor", sensor=name),
        client=name,
        login=Login(user=name, password=USERS[name]),
    )
    loop = support.window_sensor(
        stream, book, line, SeededEntropy(len(name)), name=name, quota=stream.quota, patience=5.0
    )
    rng = np.random.default_rng(1)
    return loop, line, book, [rng.integers(-1000, 1000, (20, 2)) for _ in range(windows)]


def run_beside_a_flood(tmp_path, qos, windows, quota=50):
    text = support.text(window=20, port=free_port()).replace("test = true", f"test = true\nquota = {quota}")
    stream = loads(text)
    broker = support.Mosquitto(tmp_path, stream, USERS)
    topics = assembly.topics(stream)
    results = Results(None, stream="s", columns={"flow": 0.01, "pressure": 0.01}, facts={})
    ear = MqttTransport(
        stream.broker,
        topics.heard("analyst"),
        client="analyst",
        login=Login(user="analyst", password=USERS["analyst"]),
        quota=stream.quota,
        largest=assembly.largest_message(stream),
    )
    analyst = AnalystLoop(assembly.analyst(stream), results, ear, topics)
    stop, sent = threading.Event(), [0]
    attacker = threading.Thread(target=flood, args=(stream, qos, stop, sent), daemon=True)
    sensors = []
    try:
        deadline = time.monotonic() + 300
        while not ear.connections:
            assert time.monotonic() < deadline
            ear.receive(0.1)
        attacker.start()
        while (not ear.cut_off or sent[0] <= 1000) and time.monotonic() < deadline:
            analyst.turn(0.05)  # honest sensors come when the flood is at its height
        sensors = [honest(stream, name, windows) for name in ("boiler-1", "boiler-2")]
        while time.monotonic() < deadline:
            for loop, _, _, waiting in sensors:
                if waiting and loop.room:
                    loop.take([waiting.pop()])
                loop.turn()
            analyst.turn(0.01)
            if not any(waiting or loop.waiting for loop, _, _, waiting in sensors):
                break
        known = results.known()
        assert sent[0] > 1000, "there was no flood"
        return {name: sum(key[0] == name for key in known) for name in ("boiler-1", "boiler-2")}, ear
    finally:
        stop.set()
        attacker.join()
        for _, line, book, _ in sensors:
            line.close()
            book.close()
        ear.close()
        results.close()
        broker.stop()


@pytest.mark.slow
@pytest.mark.parametrize("qos", [0, 1])
def test_honest_sensors_deliver_everything_beside_a_flood(tmp_path, qos):
    delivered, ear = run_beside_a_flood(tmp_path, qos, windows=40)
    assert delivered == {"boiler-1": 40, "boiler-2": 40}
    assert ear.dropped["flood"] > 0
    assert {topic.rsplit("/", 1)[1] for topic in ear.cut_off} == {"boiler-7"}


@pytest.mark.campaign
@pytest.mark.parametrize("qos", [0, 1])
def test_honest_sensors_deliver_everything_beside_a_long_flood(tmp_path, qos):
    delivered, _ = run_beside_a_flood(tmp_path, qos, windows=500, quota=200)
    assert delivered == {"boiler-1": 500, "boiler-2": 500}


@pytest.mark.slow
def test_oversized_retained_and_forged_messages_reach_nobody(tmp_path):
    """And an authenticated user who is on no roster may say nothing at all."""
    stream = loads(support.text(window=20, port=free_port()))
    users = {**USERS, "stranger": "nine"}
    broker = support.Mosquitto(tmp_path, stream, users)
    topics = assembly.topics(stream)
    lines = {
        name: MqttTransport(stream.broker, topics.heard("analyst") if name == "analyst" else [], client=name,
                            login=Login(user=name, password=users[name]), quota=stream.quota,
                            largest=assembly.largest_message(stream))
        for name in ("analyst", "boiler-1", "stranger")
    }  # fmt: skip
    try:
        deadline = time.monotonic() + 240
        support.until_heard(stream, lines["analyst"], "boiler-2", USERS["boiler-2"])
        while not all(line.connections for line in lines.values()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        own, other = topics.of("noised", "boiler-1"), topics.of("noised", "boiler-2")
        lines["boiler-1"].send(other, b"forged")
        lines["stranger"].send(own, b"stranger")
        lines["stranger"].send(topics.of("noised", "stranger"), b"stranger")
        lines["boiler-1"].send(own, b"honest")
        heard = []
        while b"honest" not in heard and time.monotonic() < deadline:
            delivery = lines["analyst"].receive(0.2)
            if delivery is not None:
                heard.append(delivery.payload)
                delivery.done()
        assert heard == [b"honest"]
        lines["boiler-1"].send(own, bytes(2_000_000))  # the broker cuts off whoever sends it
        lines["boiler-1"]._client.publish(own, b"retained", qos=1, retain=True)
        time.sleep(0.5)
        delivery = lines["analyst"].receive(0.5)
        assert delivery is None
    finally:
        for line in lines.values():
            line.close()
        broker.stop()
