"""What an asker could learn from a release that breaks, and from one that is asked for again."""

from __future__ import annotations

import enum
import sys
from collections import UserDict, UserList
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from tests.contracts.examples_count import TABLE
from wallflower import errors
from wallflower.engines import from_frame
from wallflower.ledger import Ledger
from wallflower.noise.entropy import SystemEntropy
from wallflower.privacy.guarantees import PureDP
from wallflower.privacy.price import Price
from wallflower.privacy.release import OwnerOnly, Release
from wallflower.schema import loads
from wallflower.session import Session, description, release_door

CANARY = "canary-2718"


RUNS: dict = {}
"""What `Question.run` does, by name: a query holds nothing that cannot be written down."""


@dataclass(frozen=True, kw_only=True)
class Question:
    name = "question"
    how: str
    epsilon: str = "0.1"
    columns: tuple[str, ...] = ("height",)

    def price(self, declaration):
        guarantee = PureDP(epsilon=Fraction(self.epsilon), neighbours=declaration.neighbours)
        return Price(guarantee=guarantee, mechanism={"name": "none"})

    def prepare(self, rows, entropy):
        assert rows.fetch(numbers=("height",)).numbers.shape == (24, 1)

    def run(self, rows, entropy):
        return RUNS[self.how](rows)

    @staticmethod
    def told(answer):
        return f"told: {answer}"

    def inspect(self, rows):
        return {}


@pytest.fixture
def session(tmp_path):
    declaration = loads(TABLE, folder=tmp_path)
    Ledger.init(declaration)
    frame = pd.DataFrame({"height": [1, 2], "weight": [CANARY, "3"]})
    return Session(declaration, from_frame(frame, declaration))


def answering(monkeypatch, run):
    monkeypatch.setitem(RUNS, "it", run)
    return Question(how="it")


def refuse(rows):
    raise errors.UsageError(f"'radius' must be a decimal, got {CANARY}.", hint=CANARY)


def broken(rows):
    raise errors.ReleaseFailed("the rows could not be read.")


def test_an_error_of_our_own_that_met_a_row_is_not_repeated(session, monkeypatch):
    with pytest.raises(errors.ReleaseFailed, match="has been charged") as caught:
        session.release(answering(monkeypatch, refuse))
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_failure_that_promises_to_hold_no_row_is_told(session, monkeypatch):
    with pytest.raises(errors.ReleaseFailed, match=r"rows could not be read\..* has been charged"):
        session.release(answering(monkeypatch, broken))


def test_no_frame_of_a_failure_holds_the_rows(session, monkeypatch):
    """What a crash reporter would send home: the variables of every frame between the asker and the failure."""
    try:
        session.release(answering(monkeypatch, refuse))
    except errors.ReleaseFailed:
        frame = sys.exc_info()[2]
    held = ""
    while frame is not None:
        if "/wallflower/session/" in frame.tb_frame.f_code.co_filename:
            held += repr(frame.tb_frame.f_locals)
        frame = frame.tb_next
    assert "ReleaseFailed" not in held
    assert CANARY not in held
    assert "Rows" not in held
    assert held


def test_a_view_and_a_source_do_not_print_their_rows(session):
    with session._source.rows(("height",)) as rows:
        assert CANARY not in repr(rows) + repr(session._source)
        assert "array" not in repr(rows)


@pytest.mark.parametrize(
    "answer", [OwnerOnly({"n": 7}), {"x": 0.5}, {"x": np.int64(3)}, {1: "x"}, [1], "text", {"x": b"ab"}]
)
def test_what_may_not_leave_is_a_failure_after_the_charge_and_stays(session, monkeypatch, answer):
    with pytest.raises(errors.ReleaseFailed, match="has been charged"):
        session.release(answering(monkeypatch, lambda _: answer))


class Word(str):
    __slots__ = ("row",)


class Few(enum.IntEnum):
    ONE = 1


def test_a_release_is_a_copy_in_plain_types(session, monkeypatch):
    word = Word("yes")
    word.row = CANARY
    given = UserDict({"word": word, "few": Few.ONE, "list": UserList([np.str_("a"), (1, True)])})
    release = session.release(answering(monkeypatch, lambda _: given), request_id="a")
    given["list"].append("later")
    assert release.value == {"word": "yes", "few": 1, "list": ["a", [1, True]]}
    assert [type(release[name]) for name in ("word", "few", "list")] == [str, int, list]
    assert session.release(Question(how="it"), request_id="a").to_json() == release.to_json()


def test_an_answer_is_told_by_its_question_now_and_later(session, monkeypatch):
    for _ in range(2):
        release = session.release(answering(monkeypatch, lambda _: {"x": 1}), request_id="a")
        assert ("answer", "told: {'x': 1}") in release.lines()
    assert "told" not in release.to_json()


def test_a_question_without_words_has_its_fields_listed(session, monkeypatch):
    monkeypatch.delattr(Question, "told")
    release = session.release(answering(monkeypatch, lambda _: {"x": 1, "y": ["a", True], "z": None}))
    assert ("answer", "x 1, y a, yes") in release.lines()


def test_a_source_that_cannot_be_used_costs_nothing(session, monkeypatch):
    """Names and types are looked at before the charge: a missing file or a misspelt column is refused for free."""
    asked = []

    class Unusable:
        def verify(self, columns):
            asked.append(columns)
            raise errors.DeclarationError("the data have no column 'height'.")

        def rows(self, columns):
            pytest.fail("the rows were opened")

    with pytest.raises(errors.DeclarationError, match="no column"):
        Session(session.declaration, Unusable()).release(answering(monkeypatch, lambda _: {"x": 1}))
    assert asked == [("height",)]
    events = [event.to_json()["kind"] for event in Ledger.open(session.declaration.ledger).history()]
    assert "charge" not in events


def test_a_recorded_answer_needs_no_source(session, monkeypatch, tmp_path):
    release = session.release(answering(monkeypatch, lambda _: {"x": 1}), request_id="a")

    class Gone:
        def verify(self, columns):
            raise errors.DeclarationError("there is no file.")

        @contextmanager
        def rows(self, columns):
            yield None

    again = Session(session.declaration, Gone()).release(Question(how="it"), request_id="a")
    assert again.to_json() == release.to_json()


def test_a_recorded_answer_is_never_shown_with_another_promise(session, monkeypatch):
    """As if a later version priced the same question differently."""
    session.release(answering(monkeypatch, lambda _: {"x": 1}), request_id="a")
    cheaper = Question.price

    def priced(self, declaration):
        price = cheaper(self, declaration)
        return replace(price, guarantee=replace(price.guarantee, epsilon=Fraction("0.01")))

    monkeypatch.setattr(Question, "price", priced)
    with pytest.raises(errors.LedgerError, match="another promise"):
        session.release(Question(how="it"), request_id="a")


@pytest.fixture
def answered(session, monkeypatch):
    """An answer as it is recorded, and what gives it again."""
    query = answering(monkeypatch, lambda _: {"x": 1})
    price = query.price(session.declaration)
    return session.release(query).to_json(), lambda answer: release_door._recorded(answer, query, price, 2)


@pytest.mark.parametrize(
    "other",
    [{"family": "k-anonymity"}, {"parameters": {"epsilon": "9"}}, {"neighbours": "replace-one"}, {"unit": "person"}],
    ids=lambda other: next(iter(other)),
)
def test_every_number_of_a_promise_is_compared_and_none_of_its_words(answered, other):
    answer, again = answered
    again({**answer, "guarantee": {**answer["guarantee"], "sentence": "It was said otherwise then."}})
    with pytest.raises(errors.LedgerError, match="another promise"):
        again({**answer, "guarantee": {**answer["guarantee"], **other}})


def test_what_was_recorded_is_told_in_its_own_words(answered):
    answer, again = answered
    told = {
        **answer,
        "guarantee": {**answer["guarantee"], "sentence": "It was said otherwise then."},
        "private": False,
        "wallflower": "0.0.1",
    }
    assert again(told).to_json() == told


def test_on_a_test_table_nothing_is_private_with_a_seed_or_without(session, monkeypatch):
    for_tests = replace(session.declaration, test=True)
    for seed in (None, 7):
        release = Session(for_tests, session._source, seed=seed).release(answering(monkeypatch, lambda _: {"x": 1}))
        assert not release.private
    assert session.release(answering(monkeypatch, lambda _: {"x": 1})).private


@pytest.mark.parametrize("what", ["the question", "the system's randomness"])
def test_what_fails_before_a_row_is_read_costs_nothing(session, monkeypatch, what):
    def fails(*_):
        raise OSError("cannot")

    whose, which = (Question, "prepare") if what == "the question" else (SystemEntropy, "bits")
    monkeypatch.setattr(whose, which, fails)
    with pytest.raises(errors.UsageError, match="cannot be answered here: OSError"):
        session.release(answering(monkeypatch, lambda _: {"x": 1}))
    assert [line.kind for line in session.ledger.history()] == ["limits"]


def test_a_trial_draws_nothing_of_the_noise_to_come(session, monkeypatch):
    drawn = []
    monkeypatch.setattr(Question, "prepare", lambda _self, _rows, entropy: drawn.append(entropy.private))
    session.release(answering(monkeypatch, lambda _: {"x": 1}))
    assert drawn
    assert not any(drawn)


@pytest.mark.parametrize("how", ["\udcff", "half of it is text: \udcff"])
def test_bytes_that_are_no_text_are_refused_before_the_charge(session, how):
    with pytest.raises(errors.UsageError, match="not text"):
        session.release(Question(how=how))
    with pytest.raises(errors.UsageError, match="not text"):
        session.price(Question(how=how))


def test_a_field_cannot_hide_what_a_question_is():
    @dataclass(frozen=True)
    class Disguised:
        kind: str

    with pytest.raises(errors.UsageError, match="Disguised"):
        description(Question(how=Disguised("Other")))


def test_only_a_mapping_is_released():
    promise = PureDP(epsilon=Fraction(1), neighbours="add-remove")
    with pytest.raises(TypeError, match="value"):
        Release(value=["x"], guarantee=promise, mechanism={}, ledger={}, private=True)
