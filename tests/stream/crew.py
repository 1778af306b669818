"""Many sensors in one process, each with a name, a book and a connection of its own: `python -m tests.stream.crew FILE WINDOWS PATIENCE NAME,NAME,...`."""

from __future__ import annotations

import sys
import time

import numpy as np

from tests.stream import support
from wallflower.noise.entropy import SystemEntropy
from wallflower.stream import assembly
from wallflower.stream.mqtt import Login, MqttTransport
from wallflower.stream.parser import load


def main() -> None:
    file, windows, patience, named = sys.argv[1:]
    stream, windows, names = load(file), int(windows), named.split(",")
    topics, crew = assembly.topics(stream), []
    for name in names:
        line = MqttTransport(
            stream.broker,
            topics.heard("sensor", sensor=name),
            client=name,
            login=Login(user=name, password="one"),  # noqa: S106
        )
        book = assembly.book(stream, name, None)
        crew.append(
            (
                support.window_sensor(
                    stream, book, line, SystemEntropy(), name=name, ahead=4, patience=float(patience)
                ),
                line,
            )
        )
    rng, left = np.random.default_rng(0), dict.fromkeys(names, windows)
    deadline = time.monotonic() + 900
    while any(left.values()) or any(loop.waiting for loop, _ in crew):
        if time.monotonic() > deadline:
            sys.exit(f"{sum(loop.waiting for loop, _ in crew)} windows still wait, {sum(left.values())} were not taken")
        for loop, line in crew:
            name = loop.sensor.name
            if left[name] and loop.room and line.connections:
                loop.take([rng.integers(-1000, 1000, (stream.window, 2))])
                left[name] -= 1
            loop.turn()
        time.sleep(0.01)
    for loop, line in crew:
        line.close()
        loop.outbox.book.close()
    sys.stdout.write("all receipted\n")


if __name__ == "__main__":
    main()
