"""Parties as processes over a real mosquitto: delivery, access list, passwords, TLS, clean shutdown."""

from __future__ import annotations

import gc
import json
import math
import queue
import signal
import sqlite3
import subprocess
import time
from contextlib import closing, suppress
from types import SimpleNamespace

import numpy as np
import pytest

from tests.servers.ports import free_port
from tests.stream import support
from wallflower.errors import UsageError
from wallflower.schema.exact import shown
from wallflower.stream.mqtt import Login, MqttTransport, paho
from wallflower.stream.parser import loads

USERS = {"boiler-1": "one", "boiler-2": "two", "analyst": "three", "corrector": "four"}


def readings_file(path, count, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, 2)) * 4
    path.write_text("flow,pressure\n" + "".join(f"{a:.2f},{b:.2f}\n" for a, b in rows))


@pytest.fixture(params=["private", "paper"])
def protocol(request):
    return request.param


@pytest.fixture
def stream_file(tmp_path, protocol):
    path = tmp_path / "pumps.toml"
    path.write_text(support.text(protocol, window=100, port=free_port()))
    return path


@pytest.fixture
def mosquitto(tmp_path, stream_file):
    broker = support.Mosquitto(tmp_path, loads(stream_file.read_text()), USERS)
    yield broker
    broker.stop()


def finished(process, timeout=240):
    stdout, stderr = process.communicate(timeout=timeout)
    assert process.returncode == 0, stderr
    return json.loads(stdout)


@pytest.fixture
def unconnected(monkeypatch):
    """Whom a party would connect to, without a network; and what it acknowledges."""
    client, told = paho().Client, []
    monkeypatch.setattr(client, "connect_async", lambda _self, host, port, **_: told.append((host, port)))
    monkeypatch.setattr(client, "loop_start", lambda _self: None)
    monkeypatch.setattr(client, "ack", lambda _self, *numbers: told.append(numbers))
    return told


@pytest.mark.parametrize(
    ("broker", "port"),
    [("mqtt://there", 1883), ("mqtts://there", 8883), ("mqtt://there:99", 99), ("mqtts://there:99", 99)],
)
def test_a_broker_without_a_port_is_at_the_usual_one(unconnected, broker, port):
    MqttTransport(broker, [], client="spy", login=Login()).close()
    assert unconnected == [("there", port)]


def test_what_arrives_is_handed_on_and_acknowledged_when_it_is_dealt_with(unconnected):
    line = MqttTransport("mqtt://there", ["a"], client="spy", login=Login())
    unconnected.clear()
    message = SimpleNamespace(topic="a", payload=b"said", mid=7, qos=1)
    line._client.on_message(line._client, None, message)
    delivery = line.receive(0.0)
    assert (delivery.topic, delivery.payload, unconnected) == ("a", b"said", [])
    delivery.done()
    assert unconnected == [(7, 1)]
    assert line.receive(0.0) is None
    line.close()


@pytest.mark.slow
def test_parties_apart_decide_every_reading_and_stop_cleanly(tmp_path, stream_file, mosquitto, protocol):
    data, results = tmp_path / "readings.csv", tmp_path / "pumps.results"
    readings_file(data, 1050)
    parties = [support.party("analyst", str(stream_file), "-o", str(results), "--json", password=USERS["analyst"])]
    if protocol == "paper":
        parties.append(support.party("corrector", str(stream_file), "--json", password=USERS["corrector"]))
    mosquitto.until_heard_by("analyst", *(["corrector"] if protocol == "paper" else []))
    sensors = [
        support.party(
            "sensor", str(stream_file), "--data", str(data), "--name", name, "--book", str(tmp_path / name), "--json",
            password=USERS[name],
        )
        for name in ("boiler-1", "boiler-2")
    ]  # fmt: skip
    for sensor in sensors:
        said = finished(sensor)
        assert (said["windows"], said["readings"], said["waiting_for_receipts"]) == (11, 1050, 0)
        each = loads(stream_file.read_text()).event_epsilon
        assert said["epsilon_ever"] == shown(1050 * each)
    for party in parties:
        party.send_signal(signal.SIGTERM)
    said = finished(parties[0])
    assert (said["windows"], said["readings"]) == (22, 2100)
    assert ("no DP towards the corrector" in said["trust"]) is (protocol == "paper")
    for party in parties[1:]:
        finished(party)
    with closing(sqlite3.connect(results)) as db:
        counts = db.execute("SELECT sensor, sum(readings) FROM wallflower_windows GROUP BY sensor").fetchall()
    assert sorted(counts) == [("boiler-1", 1050), ("boiler-2", 1050)]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["private"], indirect=True)
def test_a_live_sensor_sends_while_its_input_is_silent(tmp_path, stream_file, mosquitto):
    analyst = support.party(
        "analyst", str(stream_file), "-o", str(tmp_path / "pumps.results"), "--json", password=USERS["analyst"]
    )
    sensor = support.party(
        "sensor", str(stream_file), "--data", "-", "--name", "boiler-1", "--book", str(tmp_path / "book"), "--json",
        password=USERS["boiler-1"], stdin=subprocess.PIPE,
    )  # fmt: skip
    mosquitto.until_heard_by("analyst")
    sensor.stdin.write("flow,pressure\n" + "1,2\n" * 100)
    sensor.stdin.flush()
    spy = MqttTransport(
        loads(stream_file.read_text()).broker, ["plant/pumps/noised/0/+"], client="spy",
        login=Login(user="analyst", password=USERS["analyst"]),
    )  # fmt: skip
    try:
        receive_for(spy, seconds=240, until=1)  # sent, and sent again if need be, although no further line comes
        sensor.stdin.write("3,4\n" * 50)  # half a window: sent when the input ends
        sensor.stdin.close()
        sensor.stdin = None
        assert finished(sensor)["readings"] == 150
    finally:
        spy.close()
        analyst.send_signal(signal.SIGTERM)
    assert finished(analyst)["readings"] == 150


FENCE = "plant/pumps/fence"
"""Everyone may speak with the witness below it, and with nobody else: a broker deals with what one client says, and with what it has
for one client, in order."""


def arrives(sender, receiver, topic, seconds):
    """Whether what is sent on `topic` comes out at the other end; sent repeatedly, since a line may still be coming up."""
    mark = f"{topic} {time.monotonic_ns()}".encode()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        sender.send(topic, mark)
        while (delivery := receiver.receive(0.1)) is not None:
            delivery.done()
            if delivery.payload == mark:
                return True
    return False


def until_told(speaker, listener, topic):
    """What the listener hears before what the speaker tells it now."""
    mark = f"{topic} {time.monotonic_ns()}".encode()
    assert speaker.send(topic, mark)
    deadline, before = time.monotonic() + 240, []
    while time.monotonic() < deadline:
        if (delivery := listener.receive(0.1)) is not None:
            delivery.done()
            if delivery.payload == mark:
                return before
            before.append(delivery.payload)
    pytest.fail(f"what is told on {topic} is never heard")


def reaches(lines, sender, receiver, topic):
    """Whether one message gets through: the broker has dealt with it, and then has handed on what it had for the receiver."""
    mark = f"{sender} {topic} {time.monotonic_ns()}".encode()
    assert lines[sender].send(topic, mark)
    until_told(lines[sender], lines["witness"], f"{FENCE}/{sender}")
    return mark in until_told(lines["witness"], lines[receiver], f"{FENCE}/{receiver.split()[0]}")


def test_the_access_list_is_the_trust_model(tmp_path, stream_file, protocol):
    """By delivery: mosquitto grants a forbidden subscription and acknowledges a forbidden publication, and then is silent."""
    stream = loads(stream_file.read_text())
    users = {**USERS, "witness": "five"}
    fence = f"\nuser witness\ntopic readwrite {FENCE}/+\n"
    fence += "".join(f"\nuser {user}\ntopic readwrite {FENCE}/{user}\n" for user in USERS)
    broker = support.Mosquitto(tmp_path, stream, users, more_access=fence)
    everything = [f"{stream.topic_prefix}/#"]
    lines = {
        user: MqttTransport(stream.broker, everything, client=user, login=Login(user=user, password=password))
        for user, password in users.items()
    }
    login = Login(user="boiler-1", password=USERS["boiler-1"])
    lines["boiler-1 again"] = MqttTransport(stream.broker, everything, client="boiler-1 again", login=login)
    base = f"{stream.topic_prefix}/"
    try:
        for user in USERS:
            assert arrives(lines["witness"], lines[user], f"{FENCE}/{user}", 240)  # both are up and have subscribed
            assert arrives(lines[user], lines["witness"], f"{FENCE}/{user}", 240)
        assert arrives(lines["witness"], lines["boiler-1 again"], f"{FENCE}/boiler-1", 240)
        assert reaches(lines, "boiler-1", "analyst", base + "noised/0/boiler-1")
        assert reaches(lines, "analyst", "boiler-1", base + "receipt/0/boiler-1")
        forbidden = [
            ("boiler-1", "analyst", "noised/0/boiler-2"),  # nobody speaks for another sensor
            ("boiler-1", "boiler-2", "noised/0/boiler-1"),  # sensors do not hear each other
            ("analyst", "boiler-2", "receipt/0/boiler-1"),
            ("boiler-1", "boiler-1 again", "receipt/0/boiler-1"),  # a sensor cannot receipt itself
            ("boiler-1", "corrector", "noised/0/boiler-1"),  # the corrector never sees a noised reading
        ]
        allowed = [
            ("boiler-1", "corrector", "differences/0/boiler-1"),
            ("corrector", "analyst", "threshold/0/boiler-1"),
        ]
        forbidden += [("boiler-1", "analyst", "differences/0/boiler-1")]  # the analyst never sees a difference
        for sender, receiver, topic in allowed:
            assert reaches(lines, sender, receiver, base + topic) is (protocol == "paper"), topic
        for sender, receiver, topic in forbidden:
            assert not reaches(lines, sender, receiver, base + topic), topic
    finally:
        for line in lines.values():
            line.close()
        broker.stop()


def receive_for(line, seconds, until=math.inf):
    deadline, seen = time.monotonic() + seconds, 0
    while time.monotonic() < deadline and seen < until:
        delivery = line.receive(0.1)
        if delivery is not None:
            delivery.done()
            seen += 1
    assert until is math.inf or seen == until


@pytest.mark.parametrize("protocol", ["private"], indirect=True)
def test_a_wrong_password_is_said_and_nothing_is_sent(mosquitto, stream_file):
    stream = loads(stream_file.read_text())
    line = MqttTransport(stream.broker, [], client="x", login=Login(user="analyst", password=USERS["corrector"]))
    try:
        with pytest.raises(UsageError, match="name or password"):
            receive_for(line, seconds=120)
        assert not line.send("plant/pumps/noised/x", b"")
    finally:
        line.close()


@pytest.mark.slow
@pytest.mark.parametrize("trusted", [True, False])
def test_tls_carries_and_an_unknown_certificate_does_not(tmp_path, monkeypatch, trusted):
    refused = queue.Queue()  # of names: a client that is kept would not be collected at the end
    monkeypatch.setattr(paho().Client, "_handle_on_connect_fail", lambda client: refused.put(client._client_id))
    openssl = support.tool("openssl")
    for name in ("broker", "stranger"):
        subprocess.run(
            [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
             "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", tmp_path / f"{name}.key", "-out", tmp_path / f"{name}.pem"],
            check=True, capture_output=True,
        )  # fmt: skip
    port = free_port()
    text = support.text(port=port).replace("mqtt://", "mqtts://")
    text = text.replace("test = true", f'test = true\nca = "{"broker" if trusted else "stranger"}.pem"')
    stream = loads(text, path=tmp_path / "pumps.toml")
    broker = support.Mosquitto(
        tmp_path, stream, USERS, certificate=tmp_path / "broker.pem", key=tmp_path / "broker.key"
    )
    topics, lines = ["plant/pumps/noised/0/+"], []
    try:
        for user in ("boiler-1", "analyst"):
            login = Login(user=user, password=USERS[user], ca=stream.ca)
            lines.append(MqttTransport(stream.broker, topics, client=user, login=login))
        if trusted:
            assert arrives(*lines, "plant/pumps/noised/0/boiler-1", 240)
        else:
            names = set()
            while len(names) < len(lines):
                assert not any(line.connections for line in lines)
                with suppress(queue.Empty):
                    names.add(refused.get(timeout=0.1))
            assert not lines[0].send("plant/pumps/noised/0/boiler-1", b"")
    finally:
        for line in lines:
            line.close()
        broker.stop()
    lines.clear()
    gc.collect()  # a socket left open would warn here, and a warning is an error
