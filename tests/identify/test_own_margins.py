"""A margin of one's own: asked once, checked, kept as a table, and never shown a private count."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.identify.tables import declaration, model, session
from tests.identify.test_queries import ODD, PLAIN, ROWS
from wallflower import errors
from wallflower.identify import Anomalies
from wallflower.identify.answers import FadingAnswers
from wallflower.identify.margins import capped, star, threshold
from wallflower.identify.own_margins import checked_table
from wallflower.noise.entropy import SeededEntropy


@dataclass(frozen=True)
class Star:
    """A margin of one's own that is a good one."""

    def margin(self, copies, within, /, *, beta, k):
        return star(copies, within, beta=beta, k=k)


@dataclass(frozen=True)
class Least:
    def margin(self, copies, within, /, *, beta, k):
        return np.ones_like(within)


@dataclass(frozen=True)
class Wrong:
    kind: str

    def margin(self, copies, within, /, *, beta, k):
        good = star(copies, within, beta=beta, k=k)
        if self.kind == "fails":
            return good[10**9]
        return {
            "steep": 2 * good - 1,
            "zero": good - 1,
            "sure": good + 1,
            "float": good.astype(float),
            "k": star(copies, within, beta=beta, k=k - 1),
            "far": good + (within > beta + 30) * 2,
            # each of these breaks one condition alone, and would leak more than is charged
            "rare": np.where((copies == 0) & (within <= 1), 9, 1),  # a neighbour of another value ends it
            "crowd": np.maximum(1, within - beta - 2 * copies),  # a copy more, both counts at their caps, moves it by 2
            "after": np.where(within > beta, within - beta + 1, 1),  # 2 just after a change, and 1 just before
            "never": np.where(
                within >= beta + 2, 0, 1
            ),  # no coin is drawn with a margin of 0: a release would end in a bug
        }[self.kind]


def test_a_margin_of_ones_own_is_used_and_recorded(tmp_path):
    opened = session(tmp_path, ROWS)
    price = opened.price(Anomalies(values=(ODD,), epsilon="1", bound=Star()))
    assert price.mechanism["margin"] == "Star"
    release = opened.release(Anomalies(values=(ODD, PLAIN), epsilon="60", bound=Star()))
    assert [answer["anomalous"] for answer in release["answers"]] == [True, False]
    assert opened.price(Anomalies(values=(ODD,), epsilon="1", bound=Least())).expected[
        "wrong_if_one_row_holds_it_by_rows_near"
    ] == dict.fromkeys(["1", "2", "4", "5", "7", "9"], "0.269")


@dataclass(frozen=True)
class TwoFaced:
    """As good as Star on the long arrays of a check; on an array of one, which is all an answer needs, it leaks."""

    def margin(self, copies, within, /, *, beta, k):
        if within.size == 1 and within[0] <= beta:
            return np.where(copies > 0, 41, 1)
        return star(copies, within, beta=beta, k=k)


def test_a_margin_that_looks_at_the_length_of_its_array_leaks_nothing():
    """Called with one pair at a time it would tell a protected row with a loss of 40 at ε = 1."""
    (declared,) = declaration(model(beta=24, k=24)).models.values()
    pairs = [(np.array([a]), np.array([n])) for a, n in [(0, 5), (1, 6), (1, 24), (0, 23), (1, 40)]]
    leaks = [int(TwoFaced().margin(a, n, beta=24, k=24)[0]) for a, n in pairs]
    assert leaks[1] - leaks[0] == 40
    two_faced, honest = (FadingAnswers(model=declared, epsilon=Fraction(1), bound=b) for b in (TwoFaced(), "star"))
    two_faced.verify()
    for a, n in pairs:
        assert two_faced.margins(a, n) == honest.margins(a, n)
        assert two_faced.tell(int(a[0]), int(n[0]), SeededEntropy(3)) == honest.tell(
            int(a[0]), int(n[0]), SeededEntropy(3)
        )


def test_a_margin_is_asked_once_and_never_with_a_private_count(tmp_path):
    asked = []

    @dataclass(frozen=True)
    class Watched:
        def margin(self, copies, within, /, *, beta, k):
            asked.append((copies.tolist(), within.tolist()))
            return star(copies, within, beta=beta, k=k)

    opened = session(tmp_path, ROWS)
    query = Anomalies(values=(ODD, PLAIN), epsilon="60", bound=Watched())
    opened.price(query)
    before = list(asked)
    assert [answer["anomalous"] for answer in opened.release(query)["answers"]] == [True, False]
    assert asked == before


@given(beta=st.integers(1, 12), k=st.integers(1, 14), most=st.integers(2, 20), included=st.booleans())
def test_the_table_holds_what_the_margin_says(beta, k, most, included):
    @dataclass(frozen=True)
    class Known:
        def margin(self, copies, within, /, *, beta, k):
            return (threshold if included else star)(copies, within, beta=beta, k=k)

    table = checked_table(Known(), beta=beta, k=k, most=most, included=included)
    copies, within = np.tril_indices(beta + most + 1)[::-1]
    plain = Known().margin(copies, within, beta=beta, k=k)
    assert (table(copies, within, beta=beta, k=k) == capped(plain, within, beta=beta, most=most)).all()


@dataclass(frozen=True)
class Forger:
    """Claims to be far from any change, and writes pairs into the check's arrays among which no answer changes."""

    backwards: bool

    def margin(self, copies, within, /, *, beta, k):
        said = np.full(len(within), 40)
        copies[:], within[:] = 0, 10**6
        if self.backwards and within.base is not None:
            within.base[:] = 10**6
        return said


@pytest.mark.parametrize("backwards", [False, True])
def test_a_margin_that_writes_into_what_it_is_given_is_checked_all_the_same(backwards):
    with pytest.raises(errors.UsageError, match="above 1 where one row changes the answer"):
        checked_table(Forger(backwards), beta=3, k=1, most=50, included=False)


def test_what_a_margin_says_cannot_change_after_it_was_said():
    kept = []

    @dataclass(frozen=True)
    class Hoarder:
        def margin(self, copies, within, /, *, beta, k):
            for earlier in kept:
                earlier[:] = 40
            kept.append(star(copies, within, beta=beta, k=k))
            return kept[-1]

    table = checked_table(Hoarder(), beta=3, k=1, most=20, included=False)
    copies, within = np.tril_indices(24)[::-1]
    plain = capped(star(copies, within, beta=3, k=1), within, beta=3, most=20)
    assert (table(copies, within, beta=3, k=1) == plain).all()


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint64])
def test_a_margin_may_say_its_numbers_in_any_width(kind):
    @dataclass(frozen=True)
    class Narrow:
        def margin(self, copies, within, /, *, beta, k):
            return np.minimum(star(copies, within, beta=beta, k=k), 100).astype(kind)

    table = checked_table(Narrow(), beta=3, k=1, most=20, included=False)
    copies, within = np.tril_indices(24)[::-1]
    plain = capped(star(copies, within, beta=3, k=1), within, beta=3, most=20)
    assert (table(copies, within, beta=3, k=1) == plain).all()


def test_a_margin_that_can_change_is_refused():
    @dataclass
    class Loose:
        def margin(self, copies, within, /, *, beta, k): ...

    with pytest.raises(errors.UsageError, match="can be changed after it was checked"):
        Anomalies(values=(ODD,), epsilon="1", bound=Loose())
    with pytest.raises(errors.UsageError, match="frozen dataclass with margin"):
        Anomalies(values=(ODD,), epsilon="1", bound=len)


@pytest.mark.parametrize(
    "kind", ["steep", "zero", "sure", "float", "k", "far", "fails", "rare", "crowd", "after", "never"]
)
def test_a_margin_that_would_break_the_promise_is_refused(kind):
    with pytest.raises(errors.UsageError, match="margin"):
        Anomalies(values=(ODD,), epsilon="1", bound=Wrong(kind)).price(declaration())


def test_a_margin_that_would_need_too_large_a_table_is_refused_before_it_is_asked():
    with pytest.raises(errors.UsageError, match="10000 is the most"):
        checked_table(Wrong("fails"), beta=9_999, k=1, most=2, included=False)


def test_nobody_writes_into_a_checked_table():
    table = checked_table(Star(), beta=3, k=1, most=20, included=False)
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 40


@pytest.mark.parametrize(("bound", "longest"), [("star", 45_001), (Star(), 4_096)])
def test_a_margin_of_ones_own_is_told_apart_up_to_a_public_length(bound, longest):
    (declared,) = declaration().models.values()
    answers = FadingAnswers(model=declared, epsilon=Fraction(1, 1000), bound=bound)
    assert answers.most == longest
    # it may look at copies wherever it likes, and so must whoever shows it
    assert answers.copies_matter == (declared.beta if bound == "star" else answers.cap)


@pytest.mark.parametrize("bound", ["star", "paper", "dp", Star()])
def test_the_longest_margin_is_the_one_that_the_price_names(bound):
    """However many rows are near; and of an anomaly margins are as long as they are, β being larger here."""
    (declared,) = declaration(model(beta=9, k=9)).models.values()
    answers = FadingAnswers(model=declared, epsilon=Fraction(15), bound=bound)
    assert answers.mechanism["longest_margin"] == "4"
    copies, near = np.array([0, 0, 1, 10**9, 0]), np.array([13, 10**9, 10**9, 10**9, 0])
    longest = int(star(np.array([0]), np.array([0]), beta=9, k=9)[0]) if bound != "dp" else 1
    assert answers.margins(copies, near).tolist() == [4, 4, 4, 4, longest]
    assert answers.margins(np.array([9]), np.array([1]) + 8).tolist() == [1]
    assert int(capped(np.array([7]), np.array([9]), beta=9, most=4)[0]) == 7
