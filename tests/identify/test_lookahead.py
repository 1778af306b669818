"""The look-ahead mechanism: exact loss on its graph, and the paper's Theorem 1 (it fails for larger radii)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.identify.universe import LINE, Universe
from tests.statistics.fit import fit
from wallflower.identify.answers import LookAheadAnswers
from wallflower.identify.lookahead import LookAhead
from wallflower.noise.entropy import SeededEntropy
from wallflower.schema.declaration import Model

EPSILON = Fraction(3, 5)


def loss(one, other):
    pairs = list(zip(one, other, strict=True))
    if any((a == 0) != (b == 0) for a, b in pairs):
        return math.inf
    return max(abs(math.log(a / b)) for a, b in pairs if a > 0)


def worst(world, *, sensitive_only=True):
    mechanism = LookAhead(epsilon=EPSILON, beta=world.beta, k=world.k)
    edges = world.edges(sensitive_only=sensitive_only)
    # A radius above 0 counts rows of other values; the published mechanism would perturb by that count.
    return max(
        loss(mechanism.chances(world.within(0, one)), mechanism.chances(world.within(0, other)))
        for one, other, _ in edges
    )


@pytest.mark.parametrize("beta", range(1, 6))
@pytest.mark.parametrize("k", range(1, 7))
def test_the_loss_is_epsilon_along_every_protected_edge(beta, k):
    world = Universe(LINE[2], 0, beta, k, 12)
    assert worst(world) <= float(EPSILON) + 1e-9
    if k >= beta:
        assert worst(world, sensitive_only=False) <= float(EPSILON) + 1e-9  # differential privacy
    elif k < beta - 1:
        assert worst(world, sensitive_only=False) == math.inf  # rows of rare values are not protected


def test_theorem_1_looking_ahead_fails_for_a_radius_that_holds_other_values():
    assert worst(Universe(LINE[3], 1, 3, 1, 5)) == math.inf


def test_looking_one_step_less_ahead_is_seen():
    """n = k instead of k + 1 perturbs one end of a protected edge and not the other."""
    beta, k = 5, 3
    right, wrong = (LookAhead(epsilon=EPSILON, beta=beta, k=steps) for steps in (k, k - 1))
    edge = beta - k, beta - k + 1  # the larger count is k-sensitive
    assert loss(*(right.chances(n) for n in edge)) <= float(EPSILON) + 1e-9
    assert loss(*(wrong.chances(n) for n in edge)) == math.inf


@pytest.mark.parametrize("copies", range(12))
@pytest.mark.parametrize("beta", [1, 4])
def test_chances_are_sums_over_the_noise(copies, beta):
    q = math.exp(-EPSILON)
    law = {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-400, 401)}
    yes = sum(chance for z, chance in law.items() if 1 <= copies + z <= beta)
    no, told = LookAhead(epsilon=EPSILON, beta=beta, k=beta).chances(copies)
    assert told == pytest.approx(yes, rel=1e-9)
    assert no == pytest.approx(1 - yes, rel=1e-9)


@pytest.mark.statistics
@pytest.mark.parametrize("copies", [2, 4, 6])
def test_draws_follow_the_stated_chance(copies):
    mechanism = LookAhead(epsilon=EPSILON, beta=4, k=2)
    entropy = SeededEntropy(copies)
    draws = [int(mechanism(copies, entropy)) for _ in range(20_000)]
    yes = mechanism.chances(copies)[1]
    assert fit(draws, {0: 1 - yes, 1: yes}) > 1e-6
    assert fit(draws, {0: 1 - yes * 0.9, 1: yes * 0.9}) < 1e-9


@pytest.mark.parametrize("k", range(1, 7))
def test_what_is_said_to_be_the_plain_truth_is(k):
    """A price names the number of rows from which answers are drawn: below it they are never drawn, from it on they are."""
    model = Model(name="m", columns=("x",), beta=4, radius=Fraction(0), k=k, epsilon=EPSILON)
    said = int(LookAheadAnswers(model=model, epsilon=EPSILON, alone=True).mechanism["from_copies"])
    perturbs = LookAhead(epsilon=EPSILON, beta=4, k=k).perturbs
    assert [perturbs(copies) for copies in range(9)] == [copies >= said for copies in range(9)]


@pytest.mark.parametrize(("k", "told"), [(3, True), (4, False), (5, False)])
def test_only_a_model_with_rows_that_are_told_plainly_is_warned_of(k, told):
    """From k = β on every answer is drawn, and nothing is the plain truth."""
    model = Model(name="m", columns=("x",), beta=4, radius=Fraction(0), k=k, epsilon=EPSILON)
    notes = LookAheadAnswers(model=model, epsilon=EPSILON, alone=True).notes(("x",))
    assert any("plain truth" in note for note in notes) is told
