"""The two ways in which a sensor's process is kept busy: windows of readings, or slots of the clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from wallflower.engines.readings import refuse_unusable
from wallflower.errors import BudgetError, UsageError
from wallflower.noise.entropy import Entropy
from wallflower.stream import assembly
from wallflower.stream.book import Book, Source
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.feed import Feed
from wallflower.stream.outbox import Outbox
from wallflower.stream.periods import moment
from wallflower.stream.sensor_loop import SensorLoop
from wallflower.stream.slot_loop import SlotLoop
from wallflower.stream.transport import Transport

FASTEST = 1_000_000_000
"""Readings a second; no file is read as fast."""


@dataclass
class SensorOutcome:
    """What became of what a sensor had to send."""

    outbox: Outbox
    refused: BudgetError | None = None
    note: str = ""
    slots: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class SensorTask:
    """What a sensor's process is given, whichever way its protocol goes."""

    declared: StreamDeclaration
    name: str
    kept: Book
    line: Transport
    data: str
    """The file of readings, or - for standard input."""
    rate: float | None
    entropy: Entropy
    stop: threading.Event
    told: Callable[[int, str, str], None]
    """Hears, turn by turn, how many readings were taken, what waits, and what the analyst complains of."""
    say: Callable[[str], None]
    """A sentence for the owner's eyes."""
    start_over: bool
    """Only windows can: `refuse_unsendable`."""

    @property
    def columns(self) -> list[str]:
        return [column.name for column in self.declared.columns]


def refuse_unsendable(declared: StreamDeclaration, data: str, rate: float | None, *, start_over: bool) -> None:
    """What can be refused before there is a book: a refused sensor leaves nothing behind."""
    if rate is not None and not 0 < rate <= FASTEST:  # nor is what is no number
        raise UsageError(
            f"--rate is how many readings a second are taken, above 0 and at most {FASTEST:,}, got {rate}."
        )
    if declared.slots is not None:
        if data != "-" and rate is None:
            raise UsageError(
                f"'{declared.protocol}' goes by the clock, and a file has none.",
                hint="Play it as if it were live with --rate, pipe readings in with --data -, or try `stream simulate --data`.",
            )
        if start_over:
            raise UsageError("--start-over belongs to protocols that speak in windows; leave it out.")
    if data != "-":
        refuse_unusable(Path(data), [column.name for column in declared.columns])


def send_windows(work: SensorTask) -> SensorOutcome:
    """Send until the readings end and every receipt is in; when the budget refuses, what was charged may still arrive."""
    declared, rate = work.declared, work.rate
    source, skip = (None, 0) if work.data == "-" else _source(work.kept, Path(work.data), start_over=work.start_over)
    party = assembly.sensor(declared, work.name)
    loop = SensorLoop(party, assembly.outbox(declared, party, work.kept, work.line), work.entropy, source=source)
    feed = Feed(work.data, work.columns, declared.window, skip=skip)
    started, taken, refused = time.monotonic(), 0, None
    while not work.stop.is_set() and not ((feed.ended or refused) and not loop.waiting):
        windows: list[Any] = []
        while not (feed.ended or refused) and len(windows) < min(8, loop.room):
            values = feed.take() if rate is None or taken <= rate * (time.monotonic() - started) else None
            if values is None:
                break
            windows.append(party.quantise(values))
            taken += len(values)
        refused = loop.take_what_fits(windows) if windows else refused
        loop.turn(0.0 if windows else 0.05)
        work.told(taken, f"{loop.waiting} windows wait for receipts", loop.outbox.complaint)
    note = ""
    if skip and not taken and feed.ended:
        note = f"nothing new: all {skip:,} readings of this file were taken before (--start-over takes them again, as new ones)"
    return SensorOutcome(loop.outbox, refused, note)


def _source(kept: Book, path: Path, *, start_over: bool) -> tuple[Source, int]:
    """Which file this is, and how many of its readings are in the book already."""
    source = Source.of(path)
    if start_over:
        kept.start_over(source)
    taken = kept.taken(source)
    if taken is None:
        raise UsageError(
            f"the book has taken readings from another file than '{path}', so it cannot say which of these were sent before.",
            hint="If none were, add --start-over: they are charged as new ones. If this is the same file moved here, give the book and "
            "the file their old places.",
        )
    return source, taken


def send_by_the_clock(work: SensorTask) -> SensorOutcome:
    """Speak once a slot, whatever happens, until told to stop or, with a file, to the end of the period in which it ends."""
    declared, rate = work.declared, work.rate
    slots = declared.slots
    if slots is None:
        raise AssertionError("this protocol speaks in windows.")
    party = assembly.slot_sensor(declared, work.name)
    loop = SlotLoop(party, assembly.outbox(declared, party, work.kept, work.line), work.entropy, slots.slot)
    live = work.data == "-"
    feed = Feed(work.data, work.columns, 1 if live else max(1, int((rate or 1) / 20)), skip=0)
    if loop.silent:
        work.say(
            f"a period that began without this sensor stays silent: it speaks from {moment(declared, round(loop.speaks_at / float(slots.slot)))} on"
        )
    taken = 0
    started = time.time() if live else max(time.time(), loop.speaks_at)
    while not work.stop.is_set() and not (loop.ended and not loop.waiting):
        values: list[Any] = []
        due = 0.0 if rate is None else rate * (time.time() - started)
        while not feed.ended and (rate is None or taken < due):
            window = feed.take()
            if window is None:
                break
            values.append(window)
            taken += len(window)
        loop.hear(np.concatenate(values) if values else np.empty((0, len(work.columns))))
        if feed.ended:  # to the period's end, so that the analyst hears a whole one
            loop.end()
        loop.turn(min(0.05, loop.until_end()))
        work.told(taken, f"{loop.drawn} slots drawn, {loop.waiting} messages wait for receipts", loop.outbox.complaint)
    return SensorOutcome(loop.outbox, loop.refused, slots={"slots": loop.drawn, "slots_missed": loop.missed})
