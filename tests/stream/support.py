"""Declarations, a mosquitto of the test's own, and processes that are stopped when the test ends."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.searched import searched
from wallflower.stream import assembly
from wallflower.stream.broker import write_configuration
from wallflower.stream.declaration import TWO_SERVERS, StreamDeclaration
from wallflower.stream.mqtt import Login, MqttTransport
from wallflower.stream.outbox import Outbox
from wallflower.stream.parser import loads
from wallflower.stream.sensor_loop import SensorLoop

PRIVATE = """
[stream]
id = "pumps"
broker = "mqtt://127.0.0.1:{port}"
topic_prefix = "plant/pumps"
roster = ["s", "t", "boiler-1", "boiler-2", "boiler-7"]
window = {window}
protocol = "private"
guarantee = "{guarantee}"
core_radius = "3"
epsilon2 = "2"
test = true
"""
DBSCAN = 'detector = "dbscan(radius=0.5, least=5)"\n'
PLAINER = (DBSCAN, 'detector = "beyond"\n')
"""To replace in a declaration's text where it does not matter which detector it is: each analyst is spared the import of scikit-learn."""
PAPER = f"""
[stream]
id = "pumps"
broker = "mqtt://127.0.0.1:{{port}}"
topic_prefix = "plant/pumps"
roster = ["s", "t", "boiler-1", "boiler-2", "boiler-7"]
window = {{window}}
protocol = "paper"
trust = "{TWO_SERVERS}"
guarantee = "{{guarantee}}"
core_radius = "3"
outlier_width = "5"
{DBSCAN}test = true
"""
COLUMNS = """
[columns.flow]
lower = -100
upper = 100
step = "0.01"
centre = 0
scale = 5
epsilon = "1"

[columns.pressure]
lower = -100
upper = 100
step = "0.01"
centre = 0
scale = 5
epsilon = "1/2"

[budget]
per_window = "1_000_000_000"
per_day = "1_000_000_000"
"""


CLOCK = """
[stream]
id = "pumps"
broker = "mqtt://127.0.0.1:{port}"
topic_prefix = "plant/pumps"
roster = ["s", "t", "boiler-1", "boiler-2", "boiler-7"]
protocol = "{protocol}"
period = "{period}"
slot = "{slot}"
epsilon = "{epsilon}"
{own}
least_readings = 2
core_radius = "3"
test = true

[columns.flow]
lower = -100
upper = 100
step = "0.01"
centre = 0
scale = 5

[columns.pressure]
lower = -100
upper = 100
step = "0.01"
centre = 0
scale = 5

[budget]
per_day = "1000000000"
"""
CODE = """
[stream]
id = "pumps"
broker = "mqtt://127.0.0.1:{port}"
topic_prefix = "plant/pumps"
roster = ["s", "t", "boiler-1", "boiler-2", "boiler-7"]
protocol = "code"
window = {window}
epsilon = "1"
core_radius = "3"
test = true

[columns.flow]
lower = -100
upper = 100
step = "0.01"
centre = 0
scale = 5

[columns.pressure]
lower = -100
upper = 100
step = "0.01"
centre = 0
scale = 5

[budget]
per_window = "1000000000"
per_day = "1000000000"
"""


def clock_text(protocol="alarm", *, period="24h", slot="6h", epsilon="4", port=1883) -> str:
    own = 'false_alarms = "0.05"\nlive_share = "0.6"' if protocol == "alarm" else ""
    return CLOCK.format(protocol=protocol, period=period, slot=slot, epsilon=epsilon, own=own, port=port)


def text(protocol="private", *, window=100, guarantee="local-dp", port=1883) -> str:
    if protocol == "code":
        return CODE.format(port=port, window=window)
    head = PRIVATE if protocol == "private" else PAPER
    return head.format(port=port, window=window, guarantee=guarantee) + COLUMNS.replace("1_000_000_000", "1000000000")


def declared(protocol="private", **settings) -> StreamDeclaration:
    return loads((clock_text if protocol in {"alarm", "share"} else text)(protocol, **settings))


def window_sensor(stream, book, line, entropy, *, name="s", ahead=32, clock=time.monotonic, **waits) -> SensorLoop:
    """A sensor of windows, joined to its book and its line."""
    party = assembly.sensor(stream, name)
    outbox = Outbox(name, party.settles, book, line, assembly.topics(stream), clock=clock, **waits)
    return SensorLoop(party, outbox, entropy, ahead=ahead)


def tool(name: str) -> str:
    """A system program, or the test is skipped; with CI=true nothing is skipped."""
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{name} is not installed: run scripts/system_packages.sh")
        pytest.skip(f"{name} is not installed")
    return found


class Mosquitto:
    """A broker on a loopback port of its own, with the configuration that ships; can be killed and started again."""

    def __init__(
        self, folder: Path, stream: StreamDeclaration, users: dict[str, str], *, more_access: str = "", **tls
    ) -> None:
        program = tool("mosquitto")
        self.port = int(stream.broker.rsplit(":", 1)[1])
        self.configuration, access = write_configuration(stream, folder / "broker", **tls)
        access.write_text(access.read_text() + more_access)
        self.log = folder / "broker" / "log"
        with self.configuration.open("a") as file:
            # As root mosquitto would become another user, who may not read the test's folder.
            file.write("user root\n" if os.geteuid() == 0 else "")
            file.write(f"log_dest file {self.log}\nlog_type subscribe\n")
        passwords = folder / "broker" / "passwords"
        passwords.write_text("".join(f"{user}:{password}\n" for user, password in users.items()))
        passwords.chmod(0o600)
        subprocess.run([tool("mosquitto_passwd"), "-U", str(passwords)], check=True, capture_output=True)
        self.command = [program, "-c", str(self.configuration)]
        self.process: subprocess.Popen | None = None
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            if self.process.poll() is not None:
                pytest.fail(f"mosquitto ended with {self.process.returncode}")
            time.sleep(0.05)
        self.kill()
        pytest.fail("mosquitto does not listen")

    def until_heard_by(self, *parties: str) -> None:
        """Until these parties' processes have subscribed; what was said before would reach nobody and be said again seconds later."""
        deadline = time.monotonic() + 240
        while not all(f": wallflower pumps {party} 1 " in self.log.read_text() for party in parties):
            for started in STARTED:
                assert started.poll() is None, started.communicate()[1]
            assert time.monotonic() < deadline, "a party never subscribed"
            time.sleep(0.02)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=90)


def until_heard(stream: StreamDeclaration, spy: MqttTransport, sensor: str, password: str) -> None:
    """Say something as a sensor until `spy` hears it: a line that is up may not be subscribed to anything yet."""
    line = MqttTransport(stream.broker, [], client=sensor, login=Login(user=sensor, password=password))
    topic, sent, heard = assembly.topics(stream).of("noised", sensor), 0, -1
    try:
        deadline = time.monotonic() + 240
        while heard < 0 or heard != sent - 1:  # what was sent last is also heard last
            assert time.monotonic() < deadline, "nothing is heard"
            if heard < 0:
                sent += line.send(topic, str(sent).encode())
            if (delivery := spy.receive(0.1)) is not None:
                delivery.done()
                heard = int(delivery.payload)
    finally:
        line.close()


STARTED: list[subprocess.Popen] = []
"""Processes of the test that runs; tests/stream/conftest.py ends what a failed one left behind."""


def party(*arguments: str, password: str, stdin: int | None = None) -> subprocess.Popen:
    """`wallflower stream ...` as a process of its own."""
    environment = {**os.environ, "WALLFLOWER_MQTT_PASSWORD": password}
    root = Path(__file__).resolve().parents[2]
    environment["PYTHONPATH"] = searched(root / "src")
    started = subprocess.Popen(
        [sys.executable, "-m", "wallflower", "stream", *arguments],
        env=environment,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    STARTED.append(started)
    return started


def end_what_was_left() -> None:
    """Close every pipe and end every process, so that nothing of one test is collected in another."""
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None and not pipe.closed:
                with suppress(OSError):
                    pipe.close()
        process.wait(timeout=90)
