"""Every N-th of a thousand sensors in one process, each on a connection of its own: `python -m benchmarks.stream.crew FILE WINDOWS FIRST N`."""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from benchmarks.stream.broker import PASSWORD
from wallflower.noise.entropy import SystemEntropy
from wallflower.stream import assembly
from wallflower.stream.mqtt import Login, MqttTransport
from wallflower.stream.parser import load
from wallflower.stream.sensor_loop import SensorLoop


def main() -> None:
    declared, windows, first, every = load(sys.argv[1]), *map(int, sys.argv[2:5])
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    crew = []
    for place in range(first, 1000, every):
        name = f"s{place}"
        topics = assembly.topics(declared).heard("sensor", sensor=name)
        line = MqttTransport(declared.broker, topics, client=name, login=Login(user=name, password=PASSWORD))
        party, book = assembly.sensor(declared, name), assembly.book(declared, name, None)
        crew.append(
            (SensorLoop(party, assembly.outbox(declared, party, book, line, patience=10.0), SystemEntropy()), line)
        )
    numbers = crew[0][0].sensor.quantise(np.random.default_rng(0).normal(size=(declared.window, 2)) * 4)
    left = dict.fromkeys(range(len(crew)), windows)
    while any(left.values()) or any(loop.waiting for loop, _ in crew):
        for place, (loop, line) in enumerate(crew):
            if left[place] and loop.room and line.connections:
                loop.take([numbers])
                left[place] -= 1
            loop.turn()
        time.sleep(0.005)
    for loop, line in crew:
        line.close()
        loop.outbox.book.close()


if __name__ == "__main__":
    main()
