"""What the commands of `wallflower stream` share: readings as they come, the line, rates on stderr, a clean stop."""

from __future__ import annotations

import io
import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from wallflower.cli.common import err, show_lines
from wallflower.errors import BudgetError, UsageError, WallflowerError
from wallflower.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from wallflower.stream import assembly
from wallflower.stream.declaration import TWO_SERVERS, StreamDeclaration
from wallflower.stream.mqtt import Login, MqttTransport
from wallflower.stream.results import Results
from wallflower.stream.sensor_loop import SensorLoop


def open_results(declared: StreamDeclaration, path: Path | None) -> Results:
    return Results(
        path,
        stream=f"{declared.id} {declared.fingerprint.hex()}",
        columns={column.name: float(column.domain.step) for column in declared.columns},
        facts={
            "guarantee": json.dumps(assembly.guarantee(declared).to_json()),
            "trust": trust(declared),
            "private": "no: test = true allows predictable noise" if declared.test else "yes",
        },
    )


def trust(declared: StreamDeclaration) -> str:
    return TWO_SERVERS if declared.protocol == "paper" else "nobody: the promise holds against all parties together"


class Feed:
    """Windows of readings as they come. A file is read when asked; standard input by a thread, so that nobody waits for it."""

    def __init__(self, data: str, columns: list[str], length: int, *, skip: int) -> None:
        from wallflower.engines.readings import windows_of_file, windows_of_lines

        self.ended = False
        self._windows: Iterator[Any] | None = None
        self._queue: queue.Queue[Any] = queue.Queue(maxsize=2)  # a full queue stops the reading, and so whoever writes
        if data == "-":
            if isinstance(sys.stdin, io.TextIOWrapper):
                sys.stdin.reconfigure(errors="replace")
            live = windows_of_lines(sys.stdin, columns, length=length)
            threading.Thread(target=self._read, args=(live,), daemon=True).start()
        else:
            self._windows = windows_of_file(Path(data), columns, length=length, skip=skip)

    def _read(self, windows: Iterator[Any]) -> None:
        try:
            for window in windows:
                self._queue.put(window)
        except WallflowerError as error:
            self._queue.put(error)
        finally:
            self._queue.put(None)

    def take(self) -> Any:
        """A window, or None when there is none yet or no more."""
        if self._windows is not None:
            window = next(self._windows, None)
        else:
            try:
                window = self._queue.get_nowait()
            except queue.Empty:
                return None
        if isinstance(window, WallflowerError):
            raise window
        self.ended = window is None
        return window


def send_all(
    sending: SensorLoop, feed: Feed, stop: threading.Event, told: Teller, rate: float | None
) -> BudgetError | None:
    """Send until the readings end and every receipt is in; when the budget refuses, what was charged may still arrive."""
    started, taken, refused = time.monotonic(), 0, None
    while not stop.is_set() and not ((feed.ended or refused) and not sending.waiting):
        windows: list[Any] = []
        while not (feed.ended or refused) and len(windows) < min(8, sending.room):
            values = feed.take() if rate is None or taken <= rate * (time.monotonic() - started) else None
            if values is None:
                break
            windows.append(sending.sensor.quantise(values))
            taken += len(values)
        refused = _taken(sending, windows) if windows else refused
        sending.turn(0.0 if windows else 0.05)
        told(taken, f"{sending.waiting} windows wait for receipts")
    return refused


def _taken(sending: SensorLoop, windows: list[Any]) -> BudgetError | None:
    """Charge windows together; if the day's budget is too small for all, as many as it allows."""
    try:
        sending.take(windows)
    except BudgetError as error:
        if len(windows) == 1:
            return error
        return next((refused for window in windows if (refused := _taken(sending, [window]))), error)
    return None


def connect(
    declared: StreamDeclaration, topics: list[str], client: str, user: str, password_file: Path | None
) -> MqttTransport:
    password = os.environ.get("WALLFLOWER_MQTT_PASSWORD")
    if password_file is not None:
        try:
            password = password_file.read_text(encoding="utf-8").strip()
        except OSError:
            raise UsageError(f"the password file '{password_file}' cannot be read.") from None
    login = Login(user=user if password else None, password=password, ca=declared.ca)
    return MqttTransport(declared.broker, topics, client=f"wallflower {declared.id} {client}", login=login)


def entropy_of(test: bool, seed: int | None) -> Entropy:
    if seed is None:
        return SystemEntropy()
    if not test:
        raise UsageError(
            "a seed makes the noise predictable, and this stream is not a test.",
            hint="Leave --seed out, or write test = true in [stream] of a declaration for tests.",
        )
    return SeededEntropy(seed)


def until_stopped() -> threading.Event:
    """Set by SIGTERM or Ctrl-C: finish the turn, close the line, keep the book."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


class Teller:
    """Rates on stderr, every two seconds, for the owner's eyes."""

    def __init__(self, verb: str, line: MqttTransport) -> None:
        self._verb, self._then, self._before, self._line = verb, time.monotonic(), 0, line

    def __call__(self, readings: int, more: str) -> None:
        now = time.monotonic()
        if now - self._then < 2:
            return
        speed = (readings - self._before) / (now - self._then)
        self._then, self._before = now, readings
        words = f"{readings:,} readings {self._verb}, {speed:,.0f}/s, {more}"
        words += "" if self._line.connections else "; no connection to the broker yet"
        err.print(words, markup=False, highlight=False)


def finish(facts: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"ok": True, **facts}, ensure_ascii=False))
    else:
        show_lines([(label, _said(value)) for label, value in facts.items()])


def _said(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {kind}" for kind, count in value.items()) or "none"
    if isinstance(value, bool):
        return "yes" if value else "NO: a test stream, whose noise may come from a seed"
    return f"{value:,}" if isinstance(value, int) else str(value)
