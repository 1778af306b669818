"""What many sensors say together: intervals that cover, precision and recall as stated beforehand, and the ceiling nobody beats."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest

from tests.stream import support
from wallflower.mechanisms.alarm_clock import AlarmClock
from wallflower.noise.entropy import SeededEntropy
from wallflower.stream import fleet, periods, prices, promises
from wallflower.stream.parser import loads


def test_the_interval_covers_at_least_as_often_as_it_says():
    rng = np.random.default_rng(0)
    for of, truth, hit, false in ((100, 0.1, 0.98, 0.05), (1000, 0.02, 0.73, 0.27), (300, 0.5, 0.88, 0.12)):
        held = 0
        for _ in range(400):
            cause = rng.random(of) < truth
            heard = int((rng.random(of) < np.where(cause, hit, false)).sum())
            found = fleet.share(heard, of, hit=(hit, hit), false=false)
            held += found.low <= truth <= found.high
        assert held / 400 > 0.95 - 4 * math.sqrt(0.05 * 0.95 / 400)
        narrow = fleet.share(of // 10, of, hit=(hit, hit), false=false)
        wide = fleet.share(of // 10, of, hit=(hit - 0.1, hit), false=false)  # not knowing when it began costs width
        assert wide.high >= narrow.high


@pytest.mark.parametrize(
    ("heard", "low", "high"),
    [(0, 0.0, 0.308497), (3, 0.066740, 0.652453), (9, 0.554984, 0.997471), (10, 0.691503, 1.0)],
)
def test_the_interval_is_that_of_the_tables_of_clopper_and_pearson(heard, low, high):
    """It covers, and is no wider than it has to be: an interval that always reaches to 1 would cover too."""
    found = fleet.share(heard, 10, hit=(1.0, 1.0), false=0.0)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)


def test_there_is_no_share_of_nobody_and_none_without_a_difference():
    assert fleet.share(0, 0, hit=(0.9, 0.9), false=0.1) is None
    assert fleet.share(3, 10, hit=(0.1, 0.1), false=0.1) is None


def clock(epsilon, slots=8):
    return AlarmClock(epsilon=Fraction(epsilon), false_alarms=Fraction(1, 20), live_share=Fraction(3, 5), slots=slots)


@pytest.mark.parametrize("epsilon", [1, 4])
def test_measured_alarms_are_what_was_stated_and_never_beat_the_ceiling(epsilon):
    made, entropy, days, rng = clock(epsilon), SeededEntropy(epsilon), 3000, np.random.default_rng(1)
    loud = rng.random(days) < 0.25
    onset = rng.integers(8, size=days)
    said = np.zeros(days, dtype=bool)
    for day in range(days):
        rest = made.whole
        for slot in range(8):
            misbehaves = bool(loud[day] and slot >= onset[day])
            said[day], rest = made.draw(slot, rest, misbehaves=misbehaves, entropy=entropy)
            if said[day]:
                break
    slack = 4 / math.sqrt(loud.sum())
    low, high = float(made.recall(7)), float(made.recall(0))
    assert low - slack <= said[loud].mean() <= high + slack
    right = (said & loud).sum()
    measured = 2 * right / (said.sum() + loud.sum())
    assert measured <= fleet.ceiling_f1(epsilon, float(loud.mean())) + slack
    if epsilon == 4:
        assert said[loud].mean() >= 0.95
        assert right / said.sum() >= 0.83
        assert right / said.sum() == pytest.approx(fleet.precision(0.25, low, 0.05), abs=slack)


def test_the_ceiling_counts_always_saying_yes_too():
    """The one formula alone is false for a large share at a small epsilon."""
    always = 2 * 0.26 / 1.26
    assert fleet.ceiling_f1(0.1, 0.26) == pytest.approx(always)
    keep = 1 / (1 + math.exp(-0.1))
    assert always > 2 * 0.26 * keep / (0.26 + 0.26 * keep + 0.74 * (1 - keep))


def test_the_price_states_recall_and_precision_before_anything_is_measured():
    expected = prices.price(support.declared("alarm")).expected
    assert expected["recall"].startswith("98.3%")
    assert "86.8% where 25% of periods misbehave" in expected["precision"]
    *live, _last, _never = promises.clock(support.declared("alarm")).law([True] * 4)
    assert expected["before_the_last_slot"].startswith(f"{float(sum(live)):.0%} of periods")
    own = loads(support.clock_text().replace("least_readings", 'outlier_share = "1/2"\nleast_readings'))
    assert "where 50% of periods misbehave" in prices.price(own).expected["precision"]
    assert "answers_turned_over" in prices.price(support.declared("share")).expected
    for protocol in ("alarm", "share", "code", "private", "paper"):
        asked = prices.price(support.declared(protocol))
        assert not [key for part in (asked.mechanism, asked.settings, asked.expected) for key in part if " " in key]


def test_where_recall_depends_on_the_onset_the_price_says_both_ends():
    weak = prices.price(support.declared("alarm", epsilon="2")).expected
    assert re.search(r"^\d+\.\d% \(last slot\) to \d+\.\d% \(first slot\), by when it begins, of ", weak["recall"])
    assert weak["fleet_share"].startswith("at least ±")
    assert prices.price(support.declared("alarm", epsilon="4")).expected["fleet_share"].startswith("±")


def test_the_summary_names_days_and_leaves_cut_off_ones_out_of_the_share():
    stream = support.declared("alarm")
    first = 20_000 * 4
    words = [("s", first + slot, slot == 2) for slot in range(4)]  # an alarm in the third slot
    words += [("t", first + slot, False) for slot in range(4)]
    words += [("t", first + 4 + slot, slot == 0) for slot in range(2)]  # a day that was cut off
    found = periods.summary(stream, words)
    assert (found.periods, found.whole) == (3, 2)
    assert [(alarm.sensor, alarm.period, alarm.at) for alarm in found.alarms] == [
        ("s", "2024-10-04T00:00:00Z", "2024-10-04T18:00:00Z"),
        ("t", "2024-10-05T00:00:00Z", "2024-10-05T06:00:00Z"),
    ]
    assert found.fleet.of == 2


def test_share_is_estimated_by_time_of_the_period():
    stream = support.declared("share", epsilon="8")
    rng = np.random.default_rng(5)
    flip = promises.clock(stream).flip
    words = []
    for sensor in range(4000):
        slot = int(rng.integers(4))
        state = rng.random() < (0.5 if slot == 1 else 0.02)
        words.append((f"s{sensor}", 80_000 + slot, bool(state != (rng.random() < flip))))
    found = periods.summary(stream, words)
    by_time = dict(found.hours)
    assert by_time["slot 1 to 1"].low < 0.5 < by_time["slot 1 to 1"].high
    assert by_time["slot 0 to 0"].low < 0.02 < by_time["slot 0 to 0"].high
    assert found.fleet.low < 0.14 < found.fleet.high


@pytest.mark.parametrize(("slot", "at_once", "parts"), [("1h", 1, 24), ("45m", 2, 16), ("30m", 2, 24)])
def test_of_many_slots_several_are_told_together(slot, at_once, parts):
    stream = support.declared("share", slot=slot)
    many = promises.clock(stream).slots
    found = periods.summary(stream, [("s", 100 * many + slot, slot % 3 == 0) for slot in range(many)])
    names = [f"slot {part * at_once} to {(part + 1) * at_once - 1}" for part in range(parts)]
    assert [name for name, _ in found.hours] == names
    assert [share.of for _, share in found.hours] == [at_once] * parts


def test_the_half_width_is_that_of_a_binomial_share_over_what_tells_the_two_apart():
    rate = 0.1 * 0.9 + 0.9 * 0.2
    assert fleet.half_width(400, 0.1, 0.9, 0.2) == pytest.approx(1.96 * math.sqrt(rate * (1 - rate) / 400) / 0.7)
