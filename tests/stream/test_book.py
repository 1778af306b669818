"""The sensor's book: charge and bytes in one step, limits exact, nothing of a reading inside."""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stream import support
from wallflower.errors import BudgetError, LedgerError
from wallflower.noise.entropy import SystemEntropy
from wallflower.stream import assembly
from wallflower.stream.book import Book, Entry
from wallflower.stream.transport import LocalBroker

DAY = date(2030, 1, 1)


def opened(path, *, epsilon="1/3", per_window="100", per_day="200", sensor="s", stream=bytes(8)):
    limits = {"epsilon": Fraction(epsilon), "per_window": Fraction(per_window), "per_day": Fraction(per_day)}
    return Book(path, sensor=sensor, stream=stream, family="local-dp", **limits)


def entry(number, readings=1):
    return Entry(number=number, units=readings, body=b"noised %d" % number, differences=None)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 250), st.integers(0, 2)), max_size=20))
def test_no_sequence_of_windows_exceeds_a_limit_and_no_affordable_one_is_refused(asks):
    book, spent, days = opened(None), {}, 0
    for number, (readings, later) in enumerate(asks):
        days += later
        day, cost = DAY + timedelta(days=days), Fraction(readings, 3)
        affordable = cost <= 100 and spent.get(day, 0) + cost <= 200
        if affordable:
            book.charge([entry(number, readings)], today=day)
            spent[day] = spent.get(day, 0) + cost
        else:
            before = book.statement()
            with pytest.raises(BudgetError):
                book.charge([entry(number, readings)], today=day)
            assert book.statement() == before
    assert book.statement().total == sum(spent.values())
    book.close()


def test_a_group_is_booked_whole_or_not_at_all():
    book = opened(None)
    with pytest.raises(BudgetError):
        book.charge([entry(0, 300), entry(1, 301)], today=DAY)
    assert book.statement().windows == 0
    assert book.waiting() == []
    with pytest.raises(sqlite3.IntegrityError):
        book.charge([entry(0), entry(0)], today=DAY)
    assert book.statement().windows == 0
    book.close()


def test_a_clock_set_back_opens_no_new_budget():
    book = opened(None)
    book.charge([entry(0, 300), entry(1, 300)], today=DAY)
    with pytest.raises(BudgetError):
        book.charge([entry(2, 300)], today=DAY - timedelta(days=1))
    book.charge([entry(2, 300)], today=DAY + timedelta(days=1))
    book.close()


def test_what_was_booked_is_found_again_and_receipts_forget_only_the_bytes(tmp_path):
    path = tmp_path / "s.book"
    book = opened(path)
    series = book.series
    book.charge([entry(0), entry(1)], today=DAY)
    book.close()
    book = opened(path)
    assert (book.series, book.next_number) == (series, 2)
    assert book.waiting() == [(0, b"noised 0", None), (1, b"noised 1", None)]
    book.settle([0])
    assert [number for number, *_ in book.waiting()] == [1]
    assert book.statement().windows == 2
    book.close()


def test_one_process_holds_a_book_and_only_its_own_sensor(tmp_path):
    path = tmp_path / "s.book"
    book = opened(path)
    with pytest.raises(LedgerError, match="cannot be used"):
        opened(path)
    book.close()
    with pytest.raises(LedgerError, match="of sensor 's'"):
        opened(path, sensor="other")
    (tmp_path / "broken.book").write_bytes(b"no database" * 100)
    with pytest.raises(LedgerError):
        opened(tmp_path / "broken.book")


def test_a_changed_declaration_waits_for_an_empty_outbox_and_keeps_the_day(tmp_path):
    path = tmp_path / "s.book"
    book = opened(path)
    book.charge([entry(0, 300), entry(1, 299)], today=DAY)
    book.close()
    with pytest.raises(LedgerError, match="another declaration"):
        opened(path, stream=b"another!")
    book = opened(path)
    book.settle([0, 1])
    book.close()
    book = opened(path, stream=b"another!", epsilon="1/2")
    with pytest.raises(BudgetError):
        book.charge([entry(2)], today=DAY)  # 599/3 are spent; one more half is too much, whatever the new epsilon
    book.charge([entry(2)], today=DAY + timedelta(days=1))
    assert book.statement().total == Fraction(599, 3) + Fraction(1, 2)
    book.close()


def test_no_reading_is_kept(tmp_path):
    """A canary among the readings is in no file the sensor leaves behind, as a number of steps or as text."""
    stream = support.declared()
    sensor = assembly.sensor(stream, "s")
    book = assembly.book(stream, "s", tmp_path / "s.book")
    sending = support.window_sensor(stream, book, LocalBroker().connect([]), SystemEntropy())
    canary = sensor.quantise(np.full((100, 2), 47.11))
    sending.take([canary])
    sending.turn()
    book.close()
    for file in tmp_path.iterdir():
        content = file.read_bytes()
        for spelt in (b"4711", b"47.11", canary.tobytes(), canary[:, 0].tobytes(), canary[0].tobytes()):
            assert spelt not in content


def test_charged_before_sent():
    """At the moment of the first send the charge is already committed."""
    stream = support.declared()
    book = assembly.book(stream, "s", None)
    seen = []

    class Line:
        connections = 1

        def send(self, _topic, _payload, /):
            assert not book._db.in_transaction
            seen.append(book.statement().windows)
            return True

        def receive(self, _timeout, /):
            return None

    sending = support.window_sensor(stream, book, Line(), SystemEntropy())
    sending.take([np.zeros((100, 2), dtype=np.int64)] * 3)
    assert seen == []
    sending.turn()
    assert seen == [3, 3, 3]
    book.close()
