"""The sensor's book: charge and bytes in one step, limits exact, nothing of a reading inside."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stream import support
from wallflower.errors import BudgetError, LedgerError
from wallflower.noise.entropy import SystemEntropy
from wallflower.stream import assembly, book_file
from wallflower.stream.book import Book, Entry, Source
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


def test_the_book_is_its_owners_alone_and_on_disk_when_a_commit_returns(tmp_path):
    """On the live connection: with synchronous = OFF a power cut could take back a charge for what was sent."""
    path = tmp_path / "s.book"
    path.touch(mode=0o644)
    book = opened(path)
    book.charge([entry(0)], today=DAY)
    for setting, answer in {
        "synchronous": 2,
        "journal_mode": "wal",
        "secure_delete": 1,
        "locking_mode": "exclusive",
    }.items():
        assert book._db.execute(f"PRAGMA {setting}").fetchone()[0] == answer
    for file in tmp_path.iterdir():
        assert file.stat().st_mode & 0o777 == 0o600, file
    book.close()


@pytest.mark.parametrize("setting", ["synchronous", "journal_mode", "secure_delete"])
def test_a_book_that_cannot_be_kept_safely_is_refused(tmp_path, monkeypatch, setting):
    """The mutation: whoever weakens a setting meets the assertion on the live connection."""
    weak = {"synchronous": "OFF", "journal_mode": "DELETE", "secure_delete": "OFF"}[setting]
    monkeypatch.setitem(book_file.SETTINGS, setting, (weak, book_file.SETTINGS[setting][1]))
    with pytest.raises(LedgerError, match="safely"):
        opened(tmp_path / "s.book")


def test_receipted_bytes_are_gone_from_the_file(tmp_path):
    book = opened(tmp_path / "s.book")
    book.charge([Entry(number=0, units=1, body=b"CANARY" * 50, differences=None)], today=DAY)
    book.settle([0])
    book._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    book.close()
    assert all(b"CANARYCANARY" not in file.read_bytes() for file in tmp_path.iterdir())


def test_the_papers_book_never_holds_noised_bytes_and_differences_together(tmp_path):
    """Together they give every radius; so they are two files, and a crash between the two leaves nothing that was not charged."""
    stream = support.declared("paper")
    book = assembly.book(stream, "s", tmp_path / "s.book")
    loop = support.window_sensor(stream, book, LocalBroker().connect([]), SystemEntropy())
    loop.take([np.full((100, 2), 4711, dtype=np.int64)])
    (number, body, differences), *_ = book.waiting()
    assert differences is not None
    book._keep_apart([Entry(number=9, units=1, body=b"", differences=b"left over by a crash")])
    book.close()
    one, two = (tmp_path / "s.book").read_bytes(), (tmp_path / "s.book.differences").read_bytes()
    assert body[60:160] in one
    assert body[60:160] not in two
    assert differences[60:160] in two
    assert differences[60:160] not in one
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in tmp_path.iterdir())
    book = assembly.book(stream, "s", tmp_path / "s.book")
    assert book.waiting() == [(number, body, differences)]  # the orphan is forgotten
    book.settle([number])
    assert book._apart.execute("SELECT count(*) FROM differences").fetchone() == (0,)
    book.close()


def test_a_full_disk_is_said_in_words_and_nothing_is_kept(tmp_path):
    book = opened(tmp_path / "s.book", per_day="1000000", per_window="1000000")
    book._db.execute("PRAGMA max_page_count = 20")
    large = [Entry(number=number, units=1, body=bytes(8000), differences=None) for number in range(100)]

    def fill():
        for each in large:
            book.charge([each], today=DAY)

    with pytest.raises(LedgerError, match="full or failing"):
        fill()
    kept = [number for number, _, _ in book.waiting()]
    assert kept == list(range(len(kept)))
    assert book.statement().windows == len(kept)
    book.close()


def test_a_file_is_known_by_its_name_and_place_and_a_second_one_is_not_skipped(tmp_path):
    (tmp_path / "a.csv").write_text("x")
    (tmp_path / "b.csv").write_text("x")
    first, second = Source.of(tmp_path / "a.csv"), Source.of(tmp_path / "b.csv")
    book = opened(tmp_path / "s.book")
    assert book.taken(first) == 0
    book.charge([entry(0, 5)], source=first, today=DAY)
    book.charge([entry(1, 2)], source=first, today=DAY)
    assert book.taken(first) == 7
    assert book.taken(second) is None  # not 0, and above all not 7
    book.start_over(second)
    assert book.taken(second) == 0
    book.charge([entry(2, 3)], source=second, today=DAY)
    assert (book.taken(first), book.taken(second)) == (7, 3)
    book.close()


def test_a_book_of_an_older_version_is_refused_in_words(tmp_path):
    with closing(sqlite3.connect(tmp_path / "s.book")) as old:
        old.execute("CREATE TABLE outbox (number INTEGER PRIMARY KEY, noised BLOB NOT NULL, differences BLOB)")
        old.commit()
    with pytest.raises(LedgerError, match="older version"):
        opened(tmp_path / "s.book")


def test_a_book_that_cannot_be_read_is_let_go_of(tmp_path):
    """Else whoever mends it would wait for the process that could not use it."""
    opened(tmp_path / "s.book").close()
    with closing(sqlite3.connect(tmp_path / "s.book")) as damaged:
        damaged.execute("ALTER TABLE book RENAME COLUMN series TO lost")
    with pytest.raises(LedgerError) as refused:
        opened(tmp_path / "s.book")
    with closing(sqlite3.connect(tmp_path / "s.book", timeout=0)) as mending:
        mending.execute("ALTER TABLE book RENAME COLUMN lost TO series")
    assert "s.book" in str(refused.value)


def test_at_most_so_many_windows_wait_for_receipts():
    stream = support.declared(window=20)
    with closing(assembly.book(stream, "s", None)) as book:
        loop = support.window_sensor(stream, book, LocalBroker().connect([]), SystemEntropy(), ahead=3)
        seen = [loop.room]
        for many in (2, 1, 1):
            loop.take([np.zeros((20, 2), dtype=np.int64)] * many)
            seen.append(loop.room)
        assert seen == [3, 1, 0, 0]
        assert loop.waiting == 4
