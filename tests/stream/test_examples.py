"""The examples in the help of the parties, run as written against a broker of the test's own."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess

import pytest
import typer
from scripts.reference import every_command

from tests.servers.ports import free_port
from tests.stream import support
from tests.stream.test_mqtt import readings_file
from wallflower.cli.app import build
from wallflower.stream.parser import loads

USERS = {"boiler-7": "one", "analyst": "two", "corrector": "three"}


def example(command: str) -> list[str]:
    found = dict(every_command(typer.main.get_command(build()), "wallflower"))
    line = re.search(r"Example:\n\s+(wallflower .+)", found[f"wallflower stream {command}"].help)[1]
    return shlex.split(line)[2:]


@pytest.mark.slow
def test_the_examples_of_sensor_analyst_and_corrector_work_together(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = support.text("paper", window=50, port=free_port()).replace(*support.PLAINER)
    (tmp_path / "boiler.toml").write_text(text)
    readings_file(tmp_path / "readings.csv", 120)
    broker = support.Mosquitto(tmp_path, loads(text), USERS)
    waiting: list[subprocess.Popen] = []
    try:
        waiting = [support.party(*example(name), password=USERS[name]) for name in ("analyst", "corrector")]
        broker.until_heard_by("analyst", "corrector")
        sensor = support.party(*example("sensor"), password=USERS["boiler-7"])
        _, said = sensor.communicate(timeout=300)
        assert sensor.returncode == 0, said
        for party in waiting:
            party.send_signal(signal.SIGTERM)
            _, said = party.communicate(timeout=240)
            assert party.returncode == 0, said
        assert (tmp_path / "boiler.results").exists()
    finally:
        for party in waiting:
            if party.poll() is None:
                party.kill()
                party.communicate()
        broker.stop()
