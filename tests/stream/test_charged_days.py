"""Which day a period of a sensor that speaks by the clock is charged to."""

from __future__ import annotations

import numpy as np

from tests.stream import support
from wallflower.noise.entropy import SystemEntropy
from wallflower.stream import assembly
from wallflower.stream.outbox import Outbox
from wallflower.stream.parser import loads
from wallflower.stream.slot_loop import SlotLoop

QUARTER = 6 * 3600
FIRST = 80_000
"""The number, since 1970, of a quarter of a day that begins at midnight."""


class Silent:
    """A line on which nothing arrives."""

    connections = 1

    def send(self, _topic, _payload, /):
        return True

    def receive(self, _timeout, /):
        return None


def test_a_day_is_charged_with_its_last_period_too():
    """Its one slot is drawn at midnight, when the next day has begun; what was measured is the day's before."""
    stream = loads(support.clock_text(period="6h").replace('per_day = "1000000000"', 'per_day = "12"'))
    assert stream.budget.per_day == 3 * stream.slots.epsilon
    book, seconds, spoken = assembly.book(stream, "s", None), [FIRST * QUARTER], []
    party = assembly.slot_sensor(stream, "s")
    outbox = Outbox("s", party.settles, book, Silent(), assembly.topics(stream))
    loop = SlotLoop(party, outbox, SystemEntropy(), stream.slots.slot, now=lambda: seconds[0])
    for quarter in range(8):
        seconds[0] = (FIRST + quarter) * QUARTER + 100
        loop.hear(np.zeros((1, 2)))
        before = loop.drawn
        seconds[0] = (FIRST + quarter + 1) * QUARTER + 1
        loop.turn()
        spoken += [quarter] * (loop.drawn - before)
    assert spoken == [0, 1, 2, 4, 5, 6]
    book.close()
