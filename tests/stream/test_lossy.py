"""Exactly once over a line that loses, repeats and reorders, with parties that forget everything they have not stored."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stream import support
from wallflower.noise.entropy import SeededEntropy
from wallflower.stream import assembly
from wallflower.stream.analyst_loop import AnalystLoop, CorrectorLoop
from wallflower.stream.outbox import Outbox
from wallflower.stream.results import Results
from wallflower.stream.transport import Delivery, LocalBroker


class LossyBroker(LocalBroker):
    """Loses, repeats and shuffles what it carries, as long as it is told to."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self.chance, self.loses = chance, True

    def route(self, topic):
        return [_Lossy(self, queue) for queue in super().route(topic)]


class _Lossy:
    def __init__(self, broker, queue) -> None:
        self.broker, self.queue = broker, queue

    def __len__(self) -> int:
        return len(self.queue)

    def append(self, delivery: Delivery) -> None:
        chance = self.broker.chance
        if not self.broker.loses:
            self.queue.append(delivery)
            return
        for _ in range(chance.choice([0, 0, 1, 1, 1, 2])):
            if chance.random() < 0.3:
                self.queue.appendleft(delivery)
            else:
                self.queue.append(delivery)
        if chance.random() < 0.1:
            self.queue.append(Delivery(delivery.topic, delivery.payload[:-3]))  # and sometimes it mangles


class World:
    """One sensor, one analyst and, for `paper`, a corrector, each of which can be killed at any moment."""

    def __init__(self, folder, protocol, seed, *, ahead=4) -> None:
        self.folder, self.stream, self.ahead = folder, support.declared(protocol, window=20), ahead
        self.broker = LossyBroker(random.Random(seed))
        self.entropy, self.now = SeededEntropy(seed), 0.0
        self.topics = assembly.topics(self.stream)
        self.results = self.book = None
        self.lines = {
            party: self.broker.connect(self.topics.heard(party, sensor="s" if party == "sensor" else None))
            for party in ("sensor", "analyst", "corrector")
        }
        self.start_sensor()
        self.start_analyst()
        self.start_corrector()

    def start_sensor(self) -> None:
        if self.book is not None:
            self.book.close()
        self.book = assembly.book(self.stream, "s", self.folder / "s.book")
        self.sending = support.window_sensor(
            self.stream, self.book, self.lines["sensor"], self.entropy,
            ahead=self.ahead, patience=1.0, longest=4.0, clock=lambda: self.now,
        )  # fmt: skip

    def start_analyst(self) -> None:
        if self.results is not None:
            self.results.close()
        self.results = Results(
            self.folder / "r.results", stream="s", columns={"flow": 0.01, "pressure": 0.01}, facts={}
        )
        self.deciding = AnalystLoop(assembly.analyst(self.stream), self.results, self.lines["analyst"], self.topics)

    def start_corrector(self) -> None:
        if self.stream.protocol == "paper":
            self.correcting = CorrectorLoop(assembly.corrector(self.stream), self.lines["corrector"], self.topics)

    def turn(self, window) -> bool:
        """One round; True when the window was taken."""
        self.now += 1.0
        taken = window is not None and self.sending.room > 0
        if taken:
            self.sending.take([window])
        self.sending.turn()
        for _ in range(3):
            self.deciding.turn()
            if self.stream.protocol == "paper":
                self.correcting.turn()
        return taken

    def close(self) -> None:
        self.book.close()
        self.results.close()


def run(folder, protocol, seed, kills):
    """Thirty windows through a bad line with kills along the way, then a good line until every receipt is in."""
    world = World(folder, protocol, seed)
    rng = np.random.default_rng(seed)
    windows = [rng.integers(-10_000, 10_001, (20, 2)) for _ in range(12)]
    try:
        sent = rounds = 0
        while sent < len(windows) or world.sending.waiting:
            rounds += 1
            world.broker.loses = rounds < 60
            for victim in kills.get(rounds, ()):
                getattr(world, f"start_{victim}")()
                if victim == "sensor":
                    sent = world.book.statement().readings // 20
            sent += world.turn(windows[sent] if sent < len(windows) else None)
            assert rounds < 400, "it never ends"
        stored = world.results.known()
        assert sorted(number for _, _, number in stored) == list(range(12))
        assert world.results.totals()[:2] == (12, 240)
        statement = world.book.statement()
        assert (statement.windows, statement.readings, statement.waiting) == (12, 240, 0)
        assert statement.total == 240 * world.stream.event_epsilon
        return world.deciding
    finally:
        world.close()


KILLS = st.dictionaries(
    st.integers(1, 50),
    st.lists(st.sampled_from(["sensor", "analyst", "corrector"]), min_size=1, max_size=3),
    max_size=12,
)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["private", "paper"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), kills=KILLS)
def test_every_window_is_decided_exactly_once(tmp_path_factory, protocol, seed, kills):
    run(tmp_path_factory.mktemp("world"), protocol, seed, kills)


def test_what_is_mangled_or_repeated_is_counted(tmp_path):
    deciding = run(tmp_path, "private", 3, {})
    assert deciding.dropped["malformed"] > 0
    assert deciding.dropped["replayed"] > 0


def test_a_receipt_before_the_disk_would_lose_windows(tmp_path, monkeypatch):
    """The twin that must fail: an analyst that receipts first and dies before it stores."""
    monkeypatch.setattr(
        Results, "add", lambda _self, windows: {(w.sensor, w.series, w.number): w.digest for w in windows}
    )
    with pytest.raises(AssertionError):
        run(tmp_path, "private", 3, {5: ["analyst"], 20: ["analyst"]})


def test_an_outbox_that_forgets_at_once_would_lose_windows(tmp_path, monkeypatch):
    """The other twin: a sensor that trusts the line, as quality of service 1 tempts one to."""

    def sent_and_forgotten(self, waiting):
        done = original(self, waiting)
        numbers = [number for number, entry in self._waiting.items() if entry is waiting]
        self.book.settle(numbers)
        waiting.due = float("inf")
        return done

    original = Outbox._sent
    monkeypatch.setattr(Outbox, "_sent", sent_and_forgotten)
    with pytest.raises(AssertionError):
        run(tmp_path, "private", 3, {rounds: ["sensor"] for rounds in range(3, 60, 3)})
