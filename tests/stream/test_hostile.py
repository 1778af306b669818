"""Strangers on the line: whatever they send is dropped and counted, and no party stops, stores or settles because of it."""

from __future__ import annotations

import dataclasses
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stream import support
from tests.stream.test_messages import spoken
from wallflower.noise.entropy import SeededEntropy
from wallflower.stream import assembly
from wallflower.stream.analyst_loop import AnalystLoop, CorrectorLoop
from wallflower.stream.messages import Noised, Receipt, Window, parse
from wallflower.stream.results import Results
from wallflower.stream.transport import CHANNELS, Delivery, LocalBroker, digest_of

PREFIX = "plant/pumps"


@pytest.fixture(scope="module", params=["private", "paper"])
def world(request):
    """A sensor with one window under way, an analyst and, for `paper`, a corrector; used for many attacks in a row."""
    stream, broker = support.declared(request.param, window=20), LocalBroker()
    results = Results(None, stream="s", columns={"flow": 0.01, "pressure": 0.01}, facts={})
    book = assembly.book(stream, "s", None)
    topics = assembly.topics(stream)
    line = broker.connect(topics.heard("sensor", sensor="s"))
    sending = support.window_sensor(stream, book, line, SeededEntropy(1), clock=lambda: 0.0)  # nothing is sent again
    sending.take([np.zeros((20, 2), dtype=np.int64)])
    turns = [
        sending,
        AnalystLoop(assembly.analyst(stream), results, broker.connect(topics.heard("analyst")), topics),
    ]
    if request.param == "paper":
        turns.append(CorrectorLoop(assembly.corrector(stream), broker.connect(topics.heard("corrector")), topics))
    yield stream, turns
    results.close()
    book.close()


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_nothing_a_stranger_sends_is_believed(world, data):
    _, turns = world
    message = data.draw(spoken())
    if data.draw(st.booleans()):  # half of them by the right topic and under the right name, of another stream
        message = dataclasses.replace(message, window=dataclasses.replace(message.window, sensor="s"))
    payload = data.draw(st.sampled_from([message.encode(), b"", message.encode()[:-1], bytes(40)]))
    channel = data.draw(st.sampled_from([CHANNELS[type(message)], *sorted(CHANNELS.values())]))
    for party in turns:
        line = getattr(party, "outbox", party).transport
        line.queue.clear()
        line.queue.append(Delivery(f"{PREFIX}/{channel}/0/s", payload))
        party.turn()
        line.queue.clear()
    sending, deciding = turns[:2]
    assert sending.waiting == 1
    assert deciding.windows == 0
    assert sum(deciding.dropped.values()) + sum(deciding.analyst.dropped.values()) > 0


def forged(declared, sending, **changes):
    settings = {
        "stream": declared.fingerprint,
        "sensor": "s",
        "series": sending.outbox.book.series,
        "number": 0,
    } | changes
    return Window(**settings)


def test_only_the_receipt_for_these_bytes_settles_a_window(world):
    stream, (sending, *_) = world
    (number, noised, _), *_ = sending.outbox.book.waiting()
    right = digest_of(noised)
    attempts = [
        Receipt(window=forged(stream, sending), digest=bytes(16)),
        Receipt(window=forged(stream, sending, number=7), digest=right),
        Receipt(window=forged(stream, sending, series=b"another!"), digest=right),
        Receipt(window=forged(stream, sending, stream=b"another!"), digest=right),
        Receipt(window=forged(stream, sending, sensor="t"), digest=right),
    ]
    sending.outbox.transport.queue.clear()  # an analyst answers what was under another declaration
    for attempt in attempts:
        sending.outbox.transport.queue.append(Delivery(f"{PREFIX}/receipt/0/s", attempt.encode()))
    before = sum(sending.outbox.dropped.values())
    sending.turn()
    assert sending.waiting == 1
    assert sum(sending.outbox.dropped.values()) == before + len(attempts)
    assert sending.outbox.book.waiting()[0][0] == number


def noised_window(stream, *, count=20, value=0, name="s"):
    window = Window(stream=stream.fingerprint, sensor=name, series=bytes(8), number=0)
    readings = np.full((count, 2), value, dtype=np.int64)
    message = Noised(window=window, readings=readings, codes=np.zeros(count, dtype=np.uint8), layers=2)
    return Delivery(f"{PREFIX}/noised/0/{name}", message.encode())


@pytest.mark.parametrize("change", ["longer", "other bytes under a known number", "another party's name"])
def test_windows_that_do_not_belong_are_not_stored(change):
    stream = support.declared(window=20)
    results = Results(None, stream="s", columns={"flow": 0.01, "pressure": 0.01}, facts={})
    broker = LocalBroker()
    topics = assembly.topics(stream)
    line = broker.connect(topics.heard("analyst"))
    receipts = broker.connect([topics.of("receipt", "s")])
    deciding = AnalystLoop(assembly.analyst(stream), results, line, topics)

    def say(count=20, value=0, name="s"):
        line.queue.append(noised_window(stream, count=count, value=value, name=name))
        deciding.turn()

    if change == "longer":
        say(count=21)
    elif change == "another party's name":
        say(name="corrector")
    else:
        say()
        assert receipts.receive(0.0) is not None
        say(value=1)
    assert results.totals()[0] == (change == "other bytes under a known number")
    assert receipts.receive(0.0) is None
    assert sum(deciding.dropped.values()) + sum(deciding.analyst.dropped.values()) == 1
    results.close()


def test_of_two_contents_of_one_number_that_come_together_the_first_is_stored_and_receipted():
    """Within one batch nothing is on disk yet: the second must not take the place of the first."""
    stream, broker = support.declared(window=20), LocalBroker()
    topics = assembly.topics(stream)
    with closing(Results(None, stream="s", columns={"flow": 0.01, "pressure": 0.01}, facts={})) as results:
        line, receipts = broker.connect(topics.heard("analyst")), broker.connect([topics.of("receipt", "s")])
        deciding = AnalystLoop(assembly.analyst(stream), results, line, topics)
        first, second = (noised_window(stream, value=value) for value in (0, 1))
        line.queue.extend([first, second, first])
        assert deciding.turn() == 3
        assert deciding.dropped == {"replayed": 2}
        assert parse(receipts.receive(0.0).payload).digest == digest_of(first.payload)
        assert receipts.receive(0.0) is None
        assert results.known(None) == {("s", bytes(8).hex(), 0): digest_of(first.payload).hex()}


def test_every_delivery_is_dealt_with_once_what_it_brought_is_stored():
    """A broker stops sending to a party that never says so; one that says so too early loses what was not yet stored."""
    stream, broker = support.declared(window=20), LocalBroker()
    topics = assembly.topics(stream)
    with closing(Results(None, stream="s", columns={"flow": 0.01, "pressure": 0.01}, facts={})) as results:
        line, done = broker.connect(topics.heard("analyst")), []
        deciding = AnalystLoop(assembly.analyst(stream), results, line, topics)
        window = noised_window(stream)
        for name, payload in (("window", window.payload), ("again", window.payload), ("noise", b"")):
            line.queue.append(
                Delivery(window.topic, payload, lambda name=name: done.append((name, results.totals()[0])))
            )
        assert deciding.turn() == 3
        assert done == [("window", 1), ("again", 1), ("noise", 1)]
