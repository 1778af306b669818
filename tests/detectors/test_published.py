"""Detectors against the libraries that define them, where those are functions of the values."""

from __future__ import annotations

import random
from fractions import Fraction
from importlib import metadata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.neighbors import LocalOutlierFactor

from wallflower.detectors import LOF, Detector, Distance, Grubbs, Histogram, detector, registry
from wallflower.detectors.critical_values import critical_values
from wallflower.detectors.histogram import bar
from wallflower.detectors.registry import kinds
from wallflower.errors import DeclarationError, UsageError

ONE = Fraction(1)


def grubbs_by_scipy(values, value, alpha):
    """Distance over (critical distance): above 1 is an outlier."""
    n = len(values)
    t = stats.t.isf(alpha / (2 * n), n - 2)
    limit = (n - 1) / np.sqrt(n) * np.sqrt(t * t / (n - 2 + t * t))
    return abs(value - np.mean(values)) / np.std(values, ddof=1) / limit


@pytest.mark.parametrize("alpha", ["0.05", "0.01", "0.5"])
def test_grubbs_is_scipys_away_from_the_limit(alpha):
    dice, seen = np.random.default_rng(1), set()
    for _ in range(400):
        n = int(dice.integers(3, 200))
        values = np.sort(np.rint(dice.normal(0, 1000, n)).astype(np.int64))
        values[-1] += int(dice.integers(0, 4000))
        value = int(values[-1])
        strength = grubbs_by_scipy(values, value, float(alpha))
        if abs(strength - 1) > 1e-4:
            expected = bool(strength > 1)
            assert Grubbs(alpha=alpha).stands_out(values, value, step=ONE) == expected
            seen.add(expected)
    assert seen == {True, False}


@pytest.mark.parametrize("alpha", ["1e-12", "0.001", "0.05", "0.5", "0.99"])
def test_critical_values_grow_and_exceed_one(alpha):
    sizes = np.arange(3, 60_000)
    table = critical_values(Fraction(alpha), sizes)
    assert (np.diff(table) >= 0).all()
    assert table[0] > 2**20
    t = stats.t.isf(float(alpha) / (2 * sizes), sizes - 2) ** 2
    exact = sizes * (sizes - 1) * t / (sizes - 2 + sizes * t)
    assert np.abs(table / 2**20 / exact - 1).max() < 4e-7
    far = critical_values(Fraction(alpha), np.array([10**6, 10**6 + 1, 10**9]))
    assert (np.diff(far) > 0).all()


def test_grubbs_does_not_flag_fewer_than_three_or_equal_values():
    assert not Grubbs().stands_out(np.array([1, 9]), 9, step=ONE)
    assert not Grubbs().stands_out(np.array([4, 4, 4, 4]), 4, step=ONE)


def test_argmax_asks_for_the_furthest():
    values = np.array([-100] + [9, 10, 10, 11] * 40 + [60])
    assert Grubbs(alpha="0.2").stands_out(values, 60, step=ONE)
    assert not Grubbs(alpha="0.2", argmax=True).stands_out(values, 60, step=ONE)
    assert Grubbs(alpha="0.2", argmax=True).stands_out(values, -100, step=ONE)


@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_lof_is_scikit_learns_without_ties(k):
    dice = random.Random(k)
    for _ in range(40):
        values = np.array(sorted(dice.sample(range(10**6), dice.randrange(k + 3, 80))))
        place = dice.randrange(len(values))
        gaps = np.abs(np.subtract.outer(values, values))
        if len(np.unique(gaps[np.triu_indices(len(values), 1)])) < len(values) * (len(values) - 1) // 2:
            continue  # two equal distances: scikit-learn takes one of them
        model = LocalOutlierFactor(n_neighbors=k).fit(values[:, None].astype(float))
        assert LOF(neighbours=k).factor(values, int(values[place])) == pytest.approx(
            -model.negative_outlier_factor_[place], rel=1e-9
        )


@pytest.mark.filterwarnings("ignore:Duplicate values")
def test_scikit_learn_depends_on_the_order_of_tied_rows_and_this_does_not():
    dice, theirs_moved = random.Random(1), 0
    for _ in range(60):
        values = [dice.randrange(8) for _ in range(14)]
        theirs, ours = set(), set()
        for _ in range(6):
            mixed = dice.sample(values, len(values))
            model = LocalOutlierFactor(n_neighbors=3).fit(np.array(mixed, dtype=float)[:, None])
            theirs.add(round(float(-model.negative_outlier_factor_[mixed.index(values[0])]), 9))
            ours.add(LOF(neighbours=3).factor(np.sort(np.array(mixed)), values[0]))
        assert len(ours) == 1
        theirs_moved += len(theirs) > 1
    assert theirs_moved > 5


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60))
def test_histogram_is_numpys(values):
    values = np.sort(np.array(values))
    width = int(values[-1] - values[0])
    bins = max(1, int(np.ceil(np.sqrt(len(values)))))
    if width == 0:
        assert bar(len(values), int(values[0]), int(values[0]), int(values[0])) == (values[0], values[0] + 1)
        return
    heights = [0] * bins
    for y in values:
        heights[min(bins - 1, (int(y) - int(values[0])) * bins // width)] += 1
    counts, edges = np.histogram(values, bins=bins)
    fair = all(abs(y - edge) > 1e-9 or float(edge).is_integer() for y in values for edge in edges)
    if fair:
        assert counts.tolist() == heights
    for y in {int(y) for y in values}:
        low, high = bar(len(values), int(values[0]), int(values[-1]), y)
        assert (
            int(((values >= low) & (values < high)).sum())
            == heights[min(bins - 1, (y - int(values[0])) * bins // width)]
        )


def test_distance_counts_others_and_turns_the_radius_into_steps():
    values = np.array([0, 1, 2, 100])
    assert Distance(p="0.3", radius="0.5").stands_out(values, 100, step=Fraction("0.01"))
    assert Distance(p="0.9", radius="0.02").reach(Fraction("0.01")) == 2
    assert not Distance(p="0.25", radius=100).stands_out(values, 100, step=ONE)


@pytest.mark.parametrize(
    "text",
    [
        "lof(neighbours=7, threshold=1.25)",
        "grubbs(alpha=0.01)",
        "grubbs(alpha=0.05, argmax=true)",
        "histogram(rare=0.0025)",
        "distance(p=1/3, radius=2.5)",
    ],
)
def test_a_detector_is_read_as_it_is_written(text):
    read = detector(text)
    assert read.text == text
    assert isinstance(read, Detector)
    assert detector(f"  {text.upper().replace('TRUE', 'true')[:3].lower()}{text[3:]} ") == read


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lofty()", "no detector"),
        ("lof(k=3)", "no setting 'k'"),
        ("lof(neighbours=2.5)", "whole number"),
        ("lof(neighbours)", "setting=value"),
        ("lof(neighbours=1, neighbours=2)", "twice"),
        ("distance(p=0.1)", "needs radius"),
        ("grubbs(argmax=maybe)", "true or false"),
        ("grubbs(alpha=x)", "alpha"),
        ("lof((", "written"),
    ],
)
def test_a_wrong_detector_says_what_is_wrong(text, says):
    with pytest.raises(UsageError, match=says.replace("(", r"\(")):
        detector(text)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Grubbs(alpha=2),
        lambda: Grubbs(alpha="1e-330"),
        lambda: Grubbs(alpha="9.9e-13"),
        lambda: LOF(threshold="1e400"),
        lambda: LOF(threshold="1e-10"),
        lambda: LOF(neighbours=0),
        lambda: LOF(threshold=0),
        lambda: Histogram(rare=1),
        lambda: Distance(p=0, radius=1),
        lambda: Distance(p="0.1", radius=-1),
    ],
)
def test_impossible_constants_are_refused(make):
    with pytest.raises(DeclarationError):
        make()


def test_a_table_of_critical_values_that_falls_or_starts_at_one_is_refused(monkeypatch):
    """As quantiles below 1e-160 did: a κ of 0 made the distance to flipping move by two for one row."""
    from wallflower.detectors import critical_values as tables

    for broken in (lambda n: n - n, lambda n: np.where(n == 77, 1 << 20, (n + 5) << 20)):
        monkeypatch.setattr(tables, "_tabulated", lambda _alpha, sizes, made=broken: made(sizes))
        with pytest.raises(DeclarationError, match="critical values"):
            critical_values(Fraction(1, 7), np.array([3, 50]))
        tables._fine.cache_clear()


def test_every_detector_registers_itself_and_is_found_by_its_name():
    assert {"grubbs", "lof", "histogram", "distance"} <= set(kinds("stands_out"))
    assert set(kinds("score")) == {"dbscan", "beyond"}
    assert detector("dbscan(radius=1/2, least=3)", verb="score").text == "dbscan(radius=0.5, least=3)"
    assert detector("beyond", verb="score", defaults={"beyond": {"radius": 3.0}}).radius == 3.0
    with pytest.raises(UsageError, match="no detector is called 'dbscan'"):
        detector("dbscan(radius=1, least=3)")


def test_a_detector_of_another_package_joins_by_entry_point(monkeypatch):
    entry = metadata.EntryPoint(name="loudest", value="tests.detectors.elsewhere:Loudest", group="wallflower.detectors")
    shadow = metadata.EntryPoint(name="lof", value="tests.detectors.elsewhere:Loudest", group="wallflower.detectors")
    monkeypatch.setattr(registry.metadata, "entry_points", lambda **_: [entry, shadow])
    registry.every_kind.cache_clear()
    try:
        assert detector("loudest(by=3)").stands_out(np.array([1, 2, 9]), 9, step=ONE)
        assert detector("lof()") == LOF()
        with pytest.raises(UsageError, match="needs by"):
            detector("loudest")
    finally:
        registry.every_kind.cache_clear()
