"""A sensor that speaks by the clock: its law end to end, and every rule that the promise rests on with the bug that breaks it."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from tests.stream import support
from wallflower.errors import LedgerError
from wallflower.noise.entropy import SeededEntropy, SystemEntropy
from wallflower.stream import assembly
from wallflower.stream.book import Entry
from wallflower.stream.messages import parse
from wallflower.stream.outbox import Outbox
from wallflower.stream.parser import loads
from wallflower.stream.slot_loop import SlotLoop
from wallflower.stream.slot_sensor import ClockState

HOUR = 3600
DAY = 24 * HOUR
SLOT = 6 * HOUR
MIDNIGHT = 20_000 * DAY
LOUD, CALM = np.full((3, 2), 90.0), np.zeros((3, 2))


class Clock:
    def __init__(self, seconds) -> None:
        self.seconds = seconds

    def __call__(self):
        return self.seconds


class Wire:
    """Keeps what was sent, in its order."""

    connections = 1

    def __init__(self) -> None:
        self.sent = []

    def send(self, _topic, payload, /):
        self.sent.append(payload)
        return True

    def receive(self, _timeout, /):
        return None


def joined(stream, book, clock, wire=None, entropy=None):
    party = assembly.slot_sensor(stream, "s")
    outbox = Outbox("s", party.settles, book, wire or Wire(), assembly.topics(stream), patience=1e9)
    return SlotLoop(party, outbox, entropy or SystemEntropy(), stream.slots.slot, now=clock)


def day(loop, clock, states, start=MIDNIGHT):
    """Live through a day of slots and one second more."""
    for slot, loud in enumerate(states):
        clock.seconds = start + slot * SLOT + 100
        loop.hear(LOUD if loud else CALM)
    clock.seconds = start + len(states) * SLOT + 1
    loop.turn()


def words(wire):
    return [(parse(payload).window.number, parse(payload).said) for payload in wire.sent]


def test_one_message_of_one_size_a_slot_whatever_happens():
    stream, sizes, numbers = support.declared("alarm"), set(), set()
    for states in itertools.product((False, True), repeat=4):
        book, clock, wire = assembly.book(stream, "s", None), Clock(MIDNIGHT), Wire()
        loop = joined(stream, book, clock, wire)
        day(loop, clock, states)
        assert len(wire.sent) == 4
        assert sum(said for _, said in words(wire)) <= 1
        sizes |= {len(payload) for payload in wire.sent}
        numbers |= {number for number, _ in words(wire)}
        assert book.statement().total == 4  # one epsilon a day, however many slots
        book.close()
    assert len(sizes) == 1
    assert numbers == {20_000 * 4 + slot for slot in range(4)}


@pytest.mark.parametrize("states", [(False, True, False, False)])
def test_the_sensor_draws_the_clocks_law_of_its_latched_states(states):
    stream = loads(support.clock_text(epsilon="2").replace('"0.05"', '"0.2"'))
    latched = [any(states[: slot + 1]) for slot in range(4)]
    law = assembly.slot_sensor(stream, "s").mechanism.law(latched)
    seen, rounds, entropy = Counter(), 700, SeededEntropy(11)
    for _ in range(rounds):
        book, clock, wire = assembly.book(stream, "s", None), Clock(MIDNIGHT), Wire()
        day(joined(stream, book, clock, wire, entropy), clock, states)
        said = [slot for slot, (_, yes) in enumerate(words(wire)) if yes]
        seen[said[0] if said else 4] += 1
        book.close()
    expected = [float(share) * rounds for share in law]
    assert stats.chisquare([seen[outcome] for outcome in range(5)], expected).pvalue > 1e-6
    if any(states):
        quiet = [float(share) * rounds for share in assembly.slot_sensor(stream, "s").mechanism.law([False] * 4)]
        assert stats.chisquare([seen[outcome] for outcome in range(5)], quiet).pvalue < 1e-12


def test_a_sensor_whose_readings_end_speaks_to_the_end_of_their_day_and_begins_no_other():
    """However late it wakes up: neither is the last slot left out, nor the next day begun."""
    stream = support.declared("alarm")
    for heard, woken in itertools.product((0, 1, 3), (1, 3, 4, 5, 9)):
        if woken <= heard:
            continue
        book, clock, wire = assembly.book(stream, "s", None), Clock(MIDNIGHT), Wire()
        loop = joined(stream, book, clock, wire)
        clock.seconds = MIDNIGHT + heard * SLOT + 100
        loop.hear(CALM)
        loop.end()
        assert not loop.ended
        for seconds in (woken * SLOT, 4 * SLOT, 6 * SLOT, 9 * SLOT):
            clock.seconds = max(clock.seconds, MIDNIGHT + seconds)
            loop.turn()
        assert loop.ended
        assert [number for number, _ in words(wire)] == [20_000 * 4 + slot for slot in range(4)]
        assert book.statement().total == 4
        book.close()


@pytest.mark.parametrize(("woken", "slots"), [(4 * SLOT, 4), (5 * SLOT, 8)])
def test_readings_that_end_with_their_day_begin_no_other(woken, slots):
    """Unless a slot of the next one was drawn before their end was known: then that one is whole too."""
    stream = support.declared("alarm")
    book, clock, wire = assembly.book(stream, "s", None), Clock(MIDNIGHT), Wire()
    loop = joined(stream, book, clock, wire)
    for slot in range(4):
        clock.seconds = MIDNIGHT + slot * SLOT + 100
        loop.hear(CALM)
    clock.seconds = MIDNIGHT + woken
    loop.turn()
    loop.end()
    clock.seconds = MIDNIGHT + 20 * SLOT
    loop.turn()
    assert loop.ended
    assert len(wire.sent) == slots
    book.close()


def test_nothing_crosses_midnight():
    """A day that misbehaved leaves no trace in the next one's state: neither latch, nor rest, nor alarm."""
    stream = support.declared("alarm")
    book, clock = assembly.book(stream, "s", None), Clock(MIDNIGHT)
    loop = joined(stream, book, clock, entropy=SeededEntropy(3))
    day(loop, clock, [True] * 4)
    clock.seconds = MIDNIGHT + DAY + SLOT + 1
    loop.hear(CALM)
    state = book.clock()
    clean = loop.sensor.mechanism
    assert (state.period, state.slot) == (20_001, 0)
    quiet = clean.whole - clean.mass(0, clean.whole, misbehaves=False)
    assert state.rest == (clean.whole if state.done else quiet)  # a latch carried over would have taken ρ times as much
    book.close()


def test_what_was_slept_through_is_drawn_as_quiet_once_and_in_order():
    stream = support.declared("alarm")
    book, clock, wire = assembly.book(stream, "s", None), Clock(MIDNIGHT), Wire()
    loop = joined(stream, book, clock, wire)
    loop.hear(CALM)
    clock.seconds = MIDNIGHT + 3 * SLOT + 5  # asleep for two slots
    loop.turn()
    assert [number - 80_000 for number, _ in words(wire)] == [0, 1, 2]
    assert loop.missed == 2
    clock.seconds = MIDNIGHT + 3 * DAY + SLOT + 5  # and then over two midnights
    loop.turn()
    assert [number - 80_000 for number, _ in words(wire)] == [0, 1, 2, 3, 12]  # of the days between nothing is said
    assert book.statement().windows == 2
    book.close()


def test_a_clock_that_is_set_back_draws_nothing_twice():
    stream = support.declared("alarm")
    book, clock, wire = assembly.book(stream, "s", None), Clock(MIDNIGHT), Wire()
    loop = joined(stream, book, clock, wire)
    clock.seconds += 2 * SLOT + 5
    loop.turn()
    for back in (SLOT, DAY, 2 * SLOT):
        clock.seconds = MIDNIGHT + 2 * SLOT + 5 - back
        loop.turn()
    assert len(wire.sent) == 2
    clock.seconds = MIDNIGHT + 3 * SLOT + 5
    loop.turn()
    assert [number - 80_000 for number, _ in words(wire)] == [0, 1, 2]
    book.close()


def test_a_sensor_that_comes_in_the_middle_of_a_period_is_silent_until_the_next():
    stream = support.declared("alarm")
    book, clock, wire = assembly.book(stream, "s", None), Clock(MIDNIGHT + SLOT + 1), Wire()
    loop = joined(stream, book, clock, wire)
    assert loop.silent
    assert loop.speaks_at == MIDNIGHT + DAY
    for slot in range(2, 5):
        clock.seconds = MIDNIGHT + slot * SLOT + 1
        loop.hear(LOUD)
        loop.turn()
    assert wire.sent == []
    assert book.statement().total == 0
    clock.seconds = MIDNIGHT + DAY + SLOT + 1
    loop.turn()
    assert len(wire.sent) == 1
    book.close()


@pytest.mark.parametrize("crash_after", [0, 1, 2, 3])
@pytest.mark.parametrize("protocol", ["alarm", "share"])
def test_after_a_crash_the_period_stays_silent_and_nothing_is_drawn_again(tmp_path, crash_after, protocol):
    stream = support.declared(protocol)
    clock, first, second = Clock(MIDNIGHT), Wire(), Wire()
    book = assembly.book(stream, "s", tmp_path / "s.book")
    loop = joined(stream, book, clock, first)
    clock.seconds = MIDNIGHT + (crash_after + 1) * SLOT - 10
    loop.turn()
    book.close()  # as a kill does: nothing is said, and what was committed is there
    book = assembly.book(stream, "s", tmp_path / "s.book")
    kept = [body for _, body, _ in book.waiting()]
    assert kept == first.sent  # a resend is the same bytes
    loop = joined(stream, book, clock, second)
    for later in range(crash_after + 1, 5):
        clock.seconds = MIDNIGHT + later * SLOT + 5
        loop.turn()
    fresh = [payload for payload in second.sent if payload not in first.sent]
    drawn = {parse(payload).window.number for payload in fresh}
    assert all(number >= 80_004 for number in drawn) or (crash_after == 0 and not first.sent)
    assert len({parse(payload).window.number for payload in first.sent + fresh}) == len({*first.sent, *fresh})
    book.close()


def test_a_lost_book_costs_the_rest_of_the_period_and_never_a_second_draw(tmp_path):
    stream = support.declared("alarm")
    clock, wire = Clock(MIDNIGHT), Wire()
    book = assembly.book(stream, "s", tmp_path / "s.book")
    loop = joined(stream, book, clock)
    clock.seconds += SLOT + 1
    loop.turn()
    book.close()
    (tmp_path / "s.book").unlink()
    book = assembly.book(stream, "s", tmp_path / "s.book")
    loop = joined(stream, book, clock, wire)
    clock.seconds = MIDNIGHT + DAY + 1
    loop.turn()
    assert wire.sent == []
    book.close()


def test_the_book_itself_refuses_a_slot_drawn_twice_or_skipped():
    stream = support.declared("alarm")
    book = assembly.book(stream, "s", None)
    state = ClockState(period=7, slot=0, rest=5, done=False)
    book.commit(state, number=28, body=b"x")
    for wrong in (
        state,
        ClockState(period=7, slot=2, rest=5, done=False),
        ClockState(period=6, slot=0, rest=5, done=False),
        ClockState(period=6, slot=1, rest=5, done=False),  # an earlier period, at the slot that would come next
        ClockState(period=8, slot=1, rest=5, done=False),
    ):
        with pytest.raises(LedgerError):
            book.commit(wrong, number=99, body=b"y")
    assert [number for number, _, _ in book.waiting()] == [28]
    assert (book.statement().windows, book.next_number) == (1, 8)  # the charge has the number of its period
    with pytest.raises(AssertionError):
        assembly.slot_sensor(stream, "s").close(state, 0, misbehaves=True, series=bytes(8), entropy=SystemEntropy())
    book.close()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"period": "1h", "slot": "15m"}, {}),
        ({"period": "12h", "slot": "6h"}, {}),
        ({}, {"period": "1h", "slot": "15m"}),
        ({"protocol": "share"}, {}),
        ({"epsilon": "2"}, {}),
    ],
    ids=str,
)
def test_under_another_declaration_the_next_period_is_spoken_in_and_both_are_charged(tmp_path, before, after):
    """Periods are numbered by their length: those of hours have higher numbers than those of days."""
    ends, spent = MIDNIGHT, 0
    for declared in (before, after, before):
        stream, clock, wire = support.declared(**{"protocol": "alarm"} | declared), Clock(ends), Wire()
        book = assembly.book(stream, "s", tmp_path / "s.book")
        loop = joined(stream, book, clock, wire)
        length = int(stream.slots.period)
        for slot in range(stream.slots.count):
            clock.seconds = ends + slot * int(stream.slots.slot) + 1
            loop.hear(LOUD)
        clock.seconds = ends + length + 1
        loop.turn()
        spent += stream.slots.epsilon
        assert loop.drawn == stream.slots.count
        assert book.statement().total == spent
        state = book.clock()
        book.settle([number for number, _, _ in book.waiting()])
        book.close()
        ends = -(-(ends + length) // DAY) * DAY
    # The first stream's clock waited for it: of what it has drawn nothing is drawn again, whatever was spoken in between.
    book = assembly.book(support.declared(**{"protocol": "alarm"} | after), "s", tmp_path / "s.book")
    book.close()
    book = assembly.book(stream, "s", tmp_path / "s.book")
    assert book.clock() == state
    clock.seconds = state.period * length + 1
    again = joined(stream, book, clock, wire)
    assert again.silent
    with pytest.raises(LedgerError):
        book.commit(ClockState(period=state.period, slot=0, rest=5, done=False), number=1, body=b"x")
    book.close()


def test_a_period_whose_number_a_window_has_is_charged_beside_it(tmp_path):
    book = assembly.book(support.declared("code"), "s", tmp_path / "s.book")
    book.charge([Entry(number=20_000, units=1, body=b"x", differences=None)])
    book.settle([20_000])
    book.close()
    stream, clock = support.declared("alarm"), Clock(MIDNIGHT)
    book = assembly.book(stream, "s", tmp_path / "s.book")
    before = book.statement()
    day(joined(stream, book, clock), clock, (False,) * 4)
    assert book.statement().total == before.total + stream.slots.epsilon
    assert book.statement().windows == 2
    book.close()


def test_what_is_drawn_is_on_disk_before_it_is_sent(tmp_path):
    stream = support.declared("alarm")
    book, clock = assembly.book(stream, "s", tmp_path / "s.book"), Clock(MIDNIGHT)
    seen = []

    class Line(Wire):
        def send(self, _topic, _payload, /):
            assert not book._db.in_transaction
            seen.append((book.clock().slot, book.statement().windows))
            return True

    loop = joined(stream, book, clock, Line())
    for slot in range(3):
        clock.seconds = MIDNIGHT + (slot + 1) * SLOT + 1
        loop.turn()
    assert seen == [(0, 1), (1, 1), (2, 1)]
    book.close()


def test_a_spent_day_keeps_the_next_period_silent():
    stream = loads(support.clock_text(period="6h", slot="3h").replace('"1000000000"', '"8"'))
    book, clock, wire = assembly.book(stream, "s", None), Clock(MIDNIGHT), Wire()
    loop = joined(stream, book, clock, wire)
    for slot in range(1, 9):
        clock.seconds = MIDNIGHT + slot * 3 * HOUR + 1
        loop.turn()
    assert len(wire.sent) == 4  # two periods of the day's four: 8 is spent
    assert loop.silent
    assert "per_day" in str(loop.refused)
    clock.seconds = MIDNIGHT + DAY + 4 * HOUR
    loop.turn()
    assert len(wire.sent) == 5
    book.close()


def test_share_says_one_slot_chosen_before_the_readings():
    stream = support.declared("share", epsilon="20")  # so much that the answer is the truth
    chosen = Counter()
    for seed in range(200):
        book, clock, wire = assembly.book(stream, "s", None), Clock(MIDNIGHT), Wire()
        day(joined(stream, book, clock, wire, SeededEntropy(seed)), clock, [False, True, True, False])
        assert len(wire.sent) == 1
        number, said = words(wire)[0]
        assert said == (number % 4 in {1, 2})  # no latch: the slot's own state
        chosen[number % 4] += 1
        book.close()
    assert stats.chisquare([chosen[slot] for slot in range(4)]).pvalue > 1e-6


def test_a_reading_is_clipped_and_rounded_before_it_is_judged():
    stream = loads(support.clock_text().replace("upper = 100", "upper = 14").replace("lower = -100", "lower = -14"))
    party = assembly.slot_sensor(stream, "s")
    assert party.beyond(np.array([[9000.0, 0.0], [float("nan"), 9000.0]])) == 0  # at most 14, and the core ends at 15
    assert assembly.slot_sensor(support.declared("alarm"), "s").beyond(np.array([[9000.0, 0.0]])) == 1


def test_slots_are_counted_in_utc_from_1970():
    stream = support.declared("alarm", period="2s", slot="500ms")
    book, clock = assembly.book(stream, "s", None), Clock(1_800_000_000.0)
    loop = joined(stream, book, clock)
    assert loop.slots == 4
    assert not loop.silent
    clock.seconds += 0.499
    assert loop.until_end() == pytest.approx(0.001, abs=1e-4)
    assert Fraction(loop.speaks_at) == 1_800_000_000
    book.close()
