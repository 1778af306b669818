"""What the commands of `wallflower stream` share: the line, rates on stderr, a clean stop, and how facts are printed."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

from wallflower.cli.terminal import err, show_lines
from wallflower.errors import UsageError
from wallflower.stream.analyst_loop import AnalystLoop
from wallflower.stream.assembly import largest_message
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.facts import said
from wallflower.stream.mqtt import Login, MqttTransport


def warn_doubled(loop: AnalystLoop) -> str:
    if not loop.doubled:
        return ""
    return f"two sensors seem to speak as {', '.join(sorted(loop.doubled))}: each needs a name and a book of its own"


def connect(
    declared: StreamDeclaration,
    topics: list[str],
    client: str,
    user: str,
    password_file: Path | None,
    *,
    quota: float | None = None,
) -> MqttTransport:
    password = password_from(password_file)
    login = Login(user=user if password else None, password=password, ca=declared.ca)
    return MqttTransport(
        declared.broker,
        topics,
        client=f"wallflower {declared.id} {client}",
        login=login,
        quota=quota,
        largest=largest_message(declared),
    )


def password_from(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get("WALLFLOWER_MQTT_PASSWORD")
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise UsageError(f"the password file '{file}' cannot be read.") from None


def until_stopped() -> threading.Event:
    """Set by SIGTERM or Ctrl-C: finish the turn, close the line, keep the book."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        if number == signal.SIGTERM or signal.getsignal(number) != signal.SIG_IGN:  # as for any command: `__main__`
            signal.signal(number, lambda *_: stop.set())
    return stop


def turns(turn: Callable[[float], int], stop: threading.Event, idle: float | None) -> Iterator[int]:
    """What each turn of a loop handled, until it is told to stop or has heard nothing for `idle` seconds."""
    quiet = time.monotonic()
    while not stop.is_set() and (idle is None or time.monotonic() - quiet < idle):
        handled = turn(0.2)
        if handled:
            quiet = time.monotonic()
        yield handled


def say(words: str) -> None:
    """A line on stderr, for the owner's eyes."""
    err.print(words, highlight=False)


class Teller:
    """Rates on stderr, every two seconds, for the owner's eyes; a complaint as soon as it is new."""

    def __init__(self, what: str, line: MqttTransport) -> None:
        self._what, self._then, self._before, self._line = what, time.monotonic(), 0, line
        self._complained = ""

    def __call__(self, count: int, more: str, complaint: str = "") -> None:
        if complaint != self._complained:
            self._complained = complaint
            if complaint:
                say(complaint)
        now = time.monotonic()
        if now - self._then < 2:
            return
        speed = (count - self._before) / (now - self._then)
        self._then, self._before = now, count
        words = f"{count:,} {self._what}, {speed:,.0f}/s, {more}"
        say(words + ("" if self._line.connections else "; no connection to the broker yet"))


def finish(facts: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"ok": True, **facts}, ensure_ascii=False))
    else:
        show_lines([(label.replace("_", " "), said(label, value)) for label, value in facts.items()])
