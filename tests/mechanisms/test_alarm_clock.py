"""The alarm clock's exact law over all pairs of state sequences, its sampler, its planted bugs and its ceilings."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from wallflower.errors import DeclarationError
from wallflower.mechanisms.alarm_clock import AlarmClock
from wallflower.noise.entropy import SeededEntropy


def clock(epsilon="4", false_alarms="1/20", live_share="3/5", slots=6):
    return AlarmClock(
        epsilon=Fraction(epsilon), false_alarms=Fraction(false_alarms), live_share=Fraction(live_share), slots=slots
    )


def worst(laws):
    """The largest ratio of any outcome between any two laws; infinite when one calls impossible what another does not."""
    ratio = Fraction(0)
    for outcome in zip(*laws, strict=True):
        low, high = min(outcome), max(outcome)
        if high == 0:
            continue
        if low <= 0:
            return math.inf
        ratio = max(ratio, high / low)
    return ratio


def every_law(made, slots):
    return [made.law(states) for states in itertools.product((False, True), repeat=slots)]


@pytest.mark.parametrize("slots", [1, 2, 5, 10])
@pytest.mark.parametrize(("epsilon", "false_alarms", "live_share"), [("4", "1/20", "3/5"), ("1", "9/10", "1"), ("1/2", "1/4", "0"), ("8", "999/1000", "1/3")])  # fmt: skip
def test_no_two_days_differ_by_more_than_rho(slots, epsilon, false_alarms, live_share):
    made = clock(epsilon, false_alarms, live_share, slots)
    laws = every_law(made, slots)
    assert all(sum(law) == 1 and min(law) >= 0 for law in laws)
    assert worst(laws) <= made.ratio
    assert worst(laws) > made.ratio * Fraction(99, 100)  # what is promised is also spent
    low, high = Fraction(1, 2**64), Fraction(math.exp(float(made.epsilon))) * (1 + Fraction(1, 10**12))
    assert 1 + low < made.ratio <= high


@settings(max_examples=60, deadline=None)
@given(
    st.fractions("1/100", 12), st.fractions("1/1000", "999/1000"), st.fractions(0, 1), st.integers(1, 7)
)  # fmt: skip
def test_any_clock_keeps_its_law(epsilon, false_alarms, live_share, slots):
    made = AlarmClock(epsilon=epsilon, false_alarms=false_alarms, live_share=live_share, slots=slots)
    assert worst(every_law(made, slots)) <= made.ratio


def test_the_draws_follow_the_law():
    made, states = clock("2", "1/5", "1/2", 5), [False, True, True, False, True]
    entropy, seen, rounds = SeededEntropy(7), Counter(), 20_000
    for _ in range(rounds):
        rest = made.whole
        for slot, state in enumerate(states):
            alarmed, rest = made.draw(slot, rest, misbehaves=state, entropy=entropy)
            if alarmed:
                break
        seen[slot if alarmed else 5] += 1
    counts = [seen[outcome] for outcome in range(6)]

    def fit(law):
        return stats.chisquare(counts, [float(each) * rounds for each in law]).pvalue

    assert fit(made.law(states)) > 1e-6
    assert fit(clock("9/5", "1/5", "1/2", 5).law(states)) < 1e-12  # a tenth too little would be noticed
    assert fit(clock("11/5", "1/5", "1/2", 5).law(states)) < 1e-6


def planted(made, states, *, reserve=True, skipped=(), twice=()):
    """The clock with a mistake in it: no reserve, slots never drawn, or slots drawn two times."""
    rest, law = made.whole, []
    for slot, state in enumerate(states):
        mass = 0
        for _ in range(0 if slot in skipped else 2 if slot in twice else 1):
            quiet = made.mass(slot, rest, misbehaves=False)
            loud = min(made.ratio * quiet, rest - (made.reserve + made.later(slot) if reserve else 0))
            part = loud if state else quiet
            rest, mass = rest - part, mass + part
        law.append(Fraction(mass) / made.whole)
    return [*law, Fraction(rest) / made.whole]


def test_planted_bugs_break_the_law():
    slots = 4
    sequences = list(itertools.product((False, True), repeat=slots))
    for made in (clock("4", "1/20", "1", slots), clock("4", "9/10", "1", slots)):
        right = [planted(made, states) for states in sequences]
        assert worst(right) <= made.ratio  # the twin without a mistake is the clock itself
        assert right == [made.law(states) for states in sequences]
        no_reserve = [planted(made, states, reserve=False) for states in sequences]
        assert worst(no_reserve) > made.ratio
        mixed = right + [planted(made, states, skipped=(0, 1)) for states in sequences]
        assert worst(mixed) > made.ratio  # a sensor that was asleep, beside one that was not
        again = right + [planted(made, states, twice=(1,)) for states in sequences]
        assert worst(again) > made.ratio


def test_a_redraw_after_a_crash_breaks_the_law():
    """A sensor that forgets and starts its period again has shown two draws."""
    made = clock("4", "1/20", "1", 3)
    joint = []
    for states in itertools.product((False, True), repeat=3):
        first, second = made.law(states), made.law(states)
        joint.append([a * b for a in first for b in second])
    assert worst(joint) > made.ratio
    assert worst(joint) <= made.ratio**2


def test_a_latch_over_midnight_breaks_the_law_of_one_day():
    """One day's readings then decide two days' outcomes: ρ², not ρ."""
    made = clock("2", "1/10", "1", 2)
    quiet, loud = made.law([False, False]), made.law([True, True])
    carried = [[a * b for a in day for b in day] for day in (quiet, loud)]  # day two repeats day one's latch
    assert worst(carried) > made.ratio
    reset = [[a * b for a in day for b in quiet] for day in (quiet, loud)]
    assert worst(reset) <= made.ratio


def test_a_ratio_below_one_would_break_it_and_is_refused():
    with pytest.raises(DeclarationError):
        clock("0")
    for wrong in ({"false_alarms": "0"}, {"false_alarms": "1"}, {"live_share": "2"}, {"slots": 0}):
        with pytest.raises(DeclarationError):
            clock(**wrong)


def test_the_day_bit_is_randomised_response():
    epsilon = Fraction(2)
    ratio = clock(epsilon).ratio
    made = clock(epsilon, 1 / (1 + ratio), 0, 4)
    assert made.law([False] * 4)[-1] == ratio / (1 + ratio)
    assert made.law([True] * 4)[-1] == made.law([False, False, True, True])[-1] == 1 / (1 + ratio)


@pytest.mark.parametrize("epsilon", ["1", "2", "4", "8"])
def test_no_clock_beats_the_ceiling(epsilon):
    """Every test of an ε-LDP outcome: TPR ≤ e^ε FPR, 1 − FPR ≤ e^ε (1 − TPR); live alarms: e^ε F D on average."""
    made = clock(epsilon, "1/20", "1", 24)
    for onset in range(24):
        recall = made.recall(onset)
        assert recall <= made.ratio * made.false_alarms
        assert 1 - made.false_alarms <= made.ratio * (1 - recall)
    for delay in (1, 4, 12):
        within = [
            sum(made.law([slot >= onset for slot in range(24)])[onset : onset + delay]) for onset in range(0, 24, delay)
        ]
        assert sum(within) / len(within) <= made.ratio * made.false_alarms * Fraction(delay, 24)
