"""Each promise against the exact law of its mechanism, on random and extreme neighbours; and the planted bugs that this notices."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from wallflower.audit.exact import exact_audit
from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.laplace import DiscreteLaplace
from wallflower.mechanisms.logistic import FadingResponse
from wallflower.mechanisms.permute_and_flip import PermuteAndFlip
from wallflower.mechanisms.top import TopH

EXPONENTS = [Fraction(1, 10), Fraction(1), Fraction(2)]


def score_pairs(moves, *, candidates=4, seed=0, random_pairs=300):
    """Scores and the scores of a neighbour: every corner of the moves around a few centres, then random ones."""
    rng = np.random.default_rng(seed)
    centres = [
        (0,) * candidates,
        (0, 5) + (0,) * (candidates - 2),
        (-9,) + (0,) * (candidates - 1),
        (0,) + (-9,) * (candidates - 1),
    ]
    centres += [tuple(map(int, rng.integers(-6, 7, candidates))) for _ in range(random_pairs // 50)]
    for centre in centres:
        for change in itertools.product(moves, repeat=candidates):
            yield centre, tuple(score + move for score, move in zip(centre, change, strict=True))


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize(
    ("monotone", "moves"), [(True, (0, 1)), (True, (0, -1)), (False, (-1, 0, 1)), (True, (0, 1, 2))]
)
def test_the_loss_of_a_selection_never_exceeds_its_promise_and_comes_close(kind, exponent, monotone, moves):
    mechanism = kind(exponent=exponent, monotone=monotone)
    finding = exact_audit(
        lambda scores: dict(enumerate(mechanism.log_probabilities(scores))), score_pairs(moves), logs=True
    )
    promise = mechanism.guarantee(distance=max(map(abs, moves)), neighbours="add-remove").epsilon
    assert finding.within(promise)
    assert finding.loss > 0.85 * float(promise)  # so a promise a sixth smaller would have been refuted


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_calling_scores_monotone_that_are_not_is_found(kind):
    mechanism = kind(exponent=Fraction(1), monotone=True)
    finding = exact_audit(
        lambda scores: dict(enumerate(mechanism.log_probabilities(scores))), score_pairs((-1, 1)), logs=True
    )
    assert not finding.within(mechanism.guarantee(distance=1, neighbours="add-remove").epsilon)
    assert finding.within(mechanism.guarantee(distance=1, neighbours="replace-one").epsilon)


def renyi(order, ours, theirs):
    """The Rényi divergence of two laws given as logarithms."""
    terms = [order * one - (order - 1) * other for one, other in zip(ours, theirs, strict=True)]
    top = max(terms)
    return (top + math.log(math.fsum(math.exp(term - top) for term in terms))) / (order - 1)


@pytest.mark.parametrize("exponent", EXPONENTS)
@pytest.mark.parametrize(("monotone", "moves"), [(True, (0, 1)), (True, (0, -1)), (False, (-1, 0, 1))])
def test_the_concentrated_loss_bounds_every_renyi_divergence_and_is_tight(exponent, monotone, moves):
    mechanism = Exponential(exponent=exponent, monotone=monotone)
    rho = float(mechanism.zcdp(distance=1, neighbours="add-remove").rho)
    shares = [
        renyi(order, mechanism.log_probabilities(one), mechanism.log_probabilities(other)) / (order * rho)
        for one, other in score_pairs(moves)
        for order in (1.01, 1.5, 2, 8, 64)
    ]
    assert max(shares) <= 1 + 1e-9
    assert max(shares) > 0.8  # so a rho a fifth smaller would have been refuted


def test_permute_and_flip_has_no_bounded_range():
    """Which is why it offers no `zcdp`: its log ratios spread over more than the loss."""
    mechanism = PermuteAndFlip(exponent=Fraction(1, 10), monotone=True)
    spread = 0.0
    for one, other in score_pairs((0, 1)):
        ratios = [
            a - b for a, b in zip(mechanism.log_probabilities(one), mechanism.log_probabilities(other), strict=True)
        ]
        spread = max(spread, max(ratios) - min(ratios))
    assert spread > 1.4 * 0.1


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_permute_and_flip_is_never_worse_than_the_exponential_mechanism(exponent):
    for scores, _ in score_pairs((0,)):
        best, plain = (
            math.fsum(
                score * math.exp(chance)
                for score, chance in zip(scores, mechanism.log_probabilities(scores), strict=True)
            )
            for mechanism in (
                PermuteAndFlip(exponent=exponent, monotone=False),
                Exponential(exponent=exponent, monotone=False),
            )
        )
        assert best >= plain - 1e-12


@pytest.mark.parametrize("h", [1, 2, 3])
def test_top_h(h):
    mechanism = TopH(h=h, exponent=Fraction(1, 2))

    def law(scores):
        return {order: mechanism.log_probability(scores, order) for order in itertools.permutations(range(4), h)}

    finding = exact_audit(law, score_pairs((-1, 1), random_pairs=100), logs=True)
    assert finding.within(mechanism.guarantee(distance=1, neighbours="add-remove").epsilon)
    if h > 1:  # the twin that charges one selection for h is found
        assert not finding.within(
            Exponential(exponent=Fraction(1, 2), monotone=False).guarantee(distance=1, neighbours="add-remove").epsilon
        )


def test_laplace_on_every_pair_of_integers_up_to_its_distance():
    mechanism = DiscreteLaplace(scale=Fraction(3, 2))
    for distance in (1, 2, 5):
        loss = max(
            mechanism.log_probability(answer) - mechanism.log_probability(answer - moved)
            for answer in range(-40, 41)
            for moved in range(-distance, distance + 1)
        )
        assert loss == pytest.approx(float(mechanism.guarantee(distance=distance, neighbours="add-remove").epsilon))


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(3)])
def test_fading_responses(epsilon):
    fading = FadingResponse(epsilon=epsilon)

    def told(bit, log_flip):
        return {bit: math.log1p(-math.exp(log_flip)), not bit: log_flip}

    line = [(False, margin) for margin in range(30, 0, -1)] + [(True, margin) for margin in range(1, 31)]
    for distance in (1, 2, 7):
        pairs = list(zip(line, line[distance:], strict=False))
        finding = exact_audit(lambda place: told(place[0], fading.log_flip(place[1])), pairs, logs=True)
        assert finding.within(fading.guarantee(distance=distance, neighbours="add-remove").epsilon)
        assert finding.loss == pytest.approx(distance * float(epsilon))


def test_a_fading_response_that_starts_one_margin_too_far_is_found():
    """The off-by-one: flipping with e^(−ε·margin)/(1 + e^ε) tells a bit on the edge too surely."""
    fading = FadingResponse(epsilon=Fraction(1))

    def told(place):
        flip = fading.log_flip(place[1] + 1)
        return {place[0]: math.log1p(-math.exp(flip)), not place[0]: flip}

    assert not exact_audit(told, [((False, 1), (True, 1))], logs=True).within(Fraction(1))
