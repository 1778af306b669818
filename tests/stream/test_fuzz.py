"""Payloads that nobody meant: an analyst of every protocol drops them, counts them and goes on; 10^5 of them in the campaign."""

from __future__ import annotations

import random
import zlib

import numpy as np
import pytest

from tests.stream import support
from wallflower.noise.entropy import SeededEntropy
from wallflower.stream import assembly
from wallflower.stream.analyst_loop import AnalystLoop, CorrectorLoop
from wallflower.stream.messages import Codes, Noised, Tick, Window
from wallflower.stream.results import Results
from wallflower.stream.transport import Delivery, LocalBroker

PROTOCOLS = ["alarm", "share", "code", "private", "paper"]


def spoken(stream, chance, number):
    """A message that this stream could have said, about a window nobody has."""
    window = Window(
        stream=stream.fingerprint, sensor=chance.choice(["s", "t", "stranger"]), series=bytes(8), number=number
    )
    count = chance.randint(1, 30)
    match chance.randint(0, 2):
        case 0:
            return Tick(window=window, said=chance.random() < 0.5)
        case 1:
            return Codes(window=window, beyond=np.array([chance.random() < 0.5 for _ in range(count)]))
    readings = np.array([[chance.randint(-500, 500), chance.randint(-500, 500)] for _ in range(count)])
    layers = chance.choice([0, 2])
    codes = None if layers == 0 else np.array([chance.randint(0, 1) for _ in range(count)], dtype=np.uint8)
    return Noised(window=window, readings=readings, codes=codes, layers=layers)


def mangled(payload, chance):
    raw = bytearray(payload)
    for _ in range(chance.randint(0, 4)):
        place = chance.randrange(max(len(raw), 1))
        match chance.randint(0, 3):
            case 0 if raw:
                raw[place] ^= 1 << chance.randint(0, 7)
            case 1:
                del raw[place : place + chance.randint(1, 9)]
            case 2:
                raw[place:place] = chance.randbytes(chance.randint(1, 9))
            case _ if raw:
                raw[place] = chance.choice([0, 255])
    if chance.random() < 0.7 and len(raw) > 4:
        raw[-4:] = zlib.crc32(bytes(raw[:-4])).to_bytes(4, "little")  # an attacker can compute one too
    return bytes(raw)


def bombard(protocol, payloads, seed):
    stream, chance, broker = support.declared(protocol), random.Random(seed), LocalBroker(most_waiting=10**9)
    topics = assembly.topics(stream)
    results = Results(
        None, stream="s", columns={"flow": 0.01, "pressure": 0.01} if protocol in {"private", "paper"} else {}, facts={}
    )
    line = broker.connect(topics.heard("analyst"))
    analyst = AnalystLoop(assembly.analyst(stream), results, line, topics)
    corrector = CorrectorLoop(assembly.corrector(stream), broker.connect([]), topics) if protocol == "paper" else None
    for number in range(payloads):
        payload = mangled(spoken(stream, chance, number).encode(), chance)
        channel = chance.choice(["noised", "noised", "receipt", "threshold"])
        delivery = Delivery(topics.of(channel, chance.choice(["s", "t"])), payload)
        line.queue.append(delivery)
        if corrector is not None:
            corrector.transport.queue.append(delivery)
        if number % 64 == 0:
            analyst.turn()
            if corrector is not None:
                corrector.turn()
    while analyst.turn():
        pass
    dropped = sum((analyst.dropped + analyst.analyst.dropped).values())
    assert dropped > payloads / 4
    # What was not mangled, of this stream and of its kind is a message like any other; an honest sensor is heard beside it.
    before = results.totals()[0]
    if protocol in {"code", "private"}:
        book = assembly.book(stream, "boiler-1", None)
        ear = broker.connect(topics.heard("sensor", sensor="boiler-1"))
        honest = support.window_sensor(stream, book, ear, SeededEntropy(1), name="boiler-1")
        honest.take([np.zeros((20, 2), dtype=np.int64)])
        honest.turn()
        while analyst.turn():
            pass
        honest.turn()
        assert honest.waiting == 0
        assert results.totals()[0] == before + 1
        book.close()
    results.close()
    return dropped


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_that_is_sent_stops_an_analyst(protocol):
    assert bombard(protocol, 600, 1) > 0


@pytest.mark.campaign
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_of_a_hundred_thousand_payloads_stops_an_analyst(protocol):
    assert bombard(protocol, 100_000 // len(PROTOCOLS), 2) > 0
