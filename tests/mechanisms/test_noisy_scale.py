"""The noisy rung: Lipschitz ladders, the exact law on neighbours, coverage at every rung, and twins that must fail."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.audit.exact import exact_audit
from wallflower.errors import DeclarationError
from wallflower.mechanisms.noisy_scale import NoisyScale
from wallflower.noise.enclosure import exp_bounds
from wallflower.noise.entropy import SeededEntropy

MISS = Fraction(1, 20)
LADDERS = [
    NoisyScale(floor=Fraction(floor), cap=cap, beta=Fraction(beta), epsilon=Fraction(epsilon))
    for floor, cap, beta, epsilon in [
        ("3", 60, "7/80", "3/10"),
        ("1", 1, "1/8", "1/2"),
        ("11/10", 9, "1/20", "1/10"),
        ("5/2", 5_000, "1/3", "2"),
        ("40", 30_000, "1/100", "1/25"),
    ]
]


@pytest.mark.parametrize("ladder", LADDERS)
def test_rungs_are_at_least_e_to_the_beta_apart_and_hardly_more(ladder):
    low, high = exp_bounds(ladder.beta, 300)
    for one, above in itertools.pairwise(ladder.rungs):
        assert above * low >= one << 300 or above * high >= one << 300
        assert Fraction(above, one) >= Fraction(1 << 300, high)
        assert Fraction(above, one) <= Fraction(1 << 300, low) * (1 + Fraction(1, 2**58))
    assert ladder.scale(ladder.last) >= ladder.cap
    assert ladder.last == 0 or ladder.scale(ladder.last - 1) < ladder.cap


@given(st.data())
@settings(deadline=None)
def test_the_rung_of_a_neighbour_is_at_most_one_away(data):
    ladder = data.draw(st.sampled_from(LADDERS))
    low, _ = exp_bounds(ladder.beta, 80)
    most = Fraction(ladder.cap)
    one = data.draw(st.fractions(ladder.floor / 2, most, max_denominator=1000))
    factor = data.draw(st.fractions(Fraction(low, 2**80), Fraction(2**80, low)).filter(lambda f: f > 0))
    factor = min(max(factor, Fraction(low, 2**80)), 1 / Fraction(low + 8, 2**80))
    other = min(one * factor, most)
    assert abs(ladder.rung(one) - ladder.rung(other)) <= 1
    assert ladder.scale(ladder.rung(one)) >= one


def law(ladder, rung):
    return dict(enumerate(ladder.chances(rung)))


@pytest.mark.parametrize("ladder", LADDERS)
def test_neighbouring_rungs_are_told_apart_by_at_most_epsilon(ladder):
    pairs = list(itertools.pairwise(range(ladder.last + 1)))[:60] or [(0, 0)]
    assert exact_audit(lambda rung: law(ladder, rung), pairs).within(ladder.epsilon)
    for rung in (0, ladder.last):
        assert math.fsum(ladder.chances(rung)) == pytest.approx(1)


@dataclass(frozen=True, kw_only=True)
class HalfSteps(NoisyScale):
    """A planted bug: finer steps make narrower intervals, and a neighbour is two rungs away."""

    @cached_property
    def step(self):
        precision = 64 + 2 * math.ceil(self.beta)
        return Fraction(1 << precision, exp_bounds(self.beta / 2, precision)[0])


def test_a_ladder_of_half_steps_is_caught():
    ladder = HalfSteps(floor=Fraction(3), cap=60, beta=Fraction(7, 80), epsilon=Fraction(3, 10))
    low, _ = exp_bounds(ladder.beta, 80)
    pairs = [(scale, scale * Fraction(low, 2**80)) for scale in (Fraction(4), Fraction(10), Fraction(59))]
    found = exact_audit(lambda scale: law(ladder, ladder.rung(scale)), pairs)
    assert found.loss == pytest.approx(2 * 0.3)
    honest = LADDERS[0]
    assert exact_audit(lambda scale: law(honest, honest.rung(scale)), pairs).within(honest.epsilon)


def missed(ladder, rung, stretch, *, rungs=None):
    """P(|Y| ≥ τ·E_Ĵ) where the true scale is the top of a rung, the worst there is."""
    scales = [float(Fraction(at, 2**64)) for at in (rungs or ladder.rungs)]
    true = float(Fraction(ladder.rungs[rung], 2**64))
    return math.fsum(
        chance * (1 + float(stretch) * scale / true) ** -8
        for chance, scale in zip(ladder.chances(rung), scales, strict=True)
    )


@pytest.mark.parametrize("ladder", LADDERS)
def test_the_noise_is_within_the_stretched_rung_on_every_table(ladder):
    stretch = ladder.stretch(miss=MISS)
    found = [missed(ladder, rung, stretch) for rung in range(ladder.last + 1)]
    assert max(found) <= float(MISS)
    # nearly used up at the last rung: a smaller stretch would miss too often there
    assert missed(ladder, ladder.last, stretch * Fraction(99, 100)) > float(MISS) or ladder.last == 0


def test_a_ladder_that_ends_at_the_cap_misses_too_often():
    ladder = LADDERS[0]
    stretch = ladder.stretch(miss=MISS)
    ends = [min(rung, ladder.rungs[ladder.last]) for rung in ladder.rungs]
    assert missed(ladder, ladder.last, stretch, rungs=ends) > 0.055


def test_rungs_rounded_to_whole_numbers_miss_too_often():
    ladder = NoisyScale(floor=Fraction(1), cap=40, beta=Fraction(1, 20), epsilon=Fraction(3, 20))
    whole = [1]
    for _ in ladder.rungs[1:]:
        whole.append(math.ceil(whole[-1] * math.exp(0.05)))
    stretch = ladder.stretch(miss=MISS)
    true = whole[12]
    found = math.fsum(
        chance * (1 + float(stretch) * scale / true) ** -8
        for chance, scale in zip(ladder.chances(12), whole, strict=True)
    )
    assert found > 0.055


@pytest.mark.statistics
def test_draws_follow_the_stated_law():
    from tests.statistics.fit import fit

    ladder, rung = LADDERS[2], 7
    entropy = SeededEntropy(5)
    draws = [ladder.noisy_rung(rung, entropy) for _ in range(20_000)]
    assert fit(draws, dict(enumerate(ladder.chances(rung)))) > 1e-6
    assert fit(draws, dict(enumerate(ladder.chances(rung + 1)))) < 1e-12


@pytest.mark.parametrize(
    "change", [{"floor": Fraction(0)}, {"epsilon": Fraction(1, 10**7)}, {"beta": Fraction(1, 10**9)}, {"cap": 0}]
)
def test_what_makes_no_ladder_is_refused(change):
    with pytest.raises(DeclarationError):
        NoisyScale(**{"floor": Fraction(3), "cap": 60, "beta": Fraction(1, 8), "epsilon": Fraction(1, 2)} | change)
