"""The exact audit finds the true loss, and each planted bug."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from wallflower.audit.exact import delta_curve, exact_audit
from wallflower.audit.universes import add_remove_pairs, replace_one_pairs, tables
from wallflower.mechanisms.laplace import DiscreteLaplace

MOST = 12


def clamped_laplace(value: int, scale: Fraction, upper: int) -> dict[int, float]:
    """The law of a noisy integer clamped to the public [0, upper]."""
    noise = DiscreteLaplace(scale=scale)
    law = {answer: math.exp(noise.log_probability(answer - value)) for answer in range(1, upper)}
    ratio = math.exp(-1 / scale)

    def beyond(distance: int) -> float:  # P(noise >= distance), distance >= 0
        return ratio**distance / (1 + ratio)

    law[0] = beyond(value)
    law[upper] = beyond(upper - value)
    return law


PAIRS = list(add_remove_pairs((0, 1), 5))


def count(table):
    return sum(table)


def test_universes_hold_every_small_table_and_pair():
    assert len(list(tables("abc", 3))) == 1 + 3 + 6 + 10
    assert len(list(add_remove_pairs("abc", 3))) == 3 * (1 + 3 + 6)
    assert all(len(larger) == len(smaller) + 1 for smaller, larger in add_remove_pairs("abc", 3))
    assert len(list(replace_one_pairs("abc", 3))) == 6 * 3
    assert all(len(one) == len(other) == 3 and one != other for one, other in replace_one_pairs("abc", 3))


def test_a_right_mechanism_spends_exactly_its_promise():
    finding = exact_audit(lambda table: clamped_laplace(count(table), Fraction(2), MOST), PAIRS)
    assert finding.loss == pytest.approx(0.5)
    assert finding.within(Fraction(1, 2))
    assert not finding.within(Fraction(49, 100))


def test_half_the_noise_is_found():
    finding = exact_audit(lambda table: clamped_laplace(count(table), Fraction(1), MOST), PAIRS)
    assert finding.loss == pytest.approx(1)
    assert not finding.within(Fraction(1, 2))


def test_a_wrong_sensitivity_is_found_with_a_witness():
    """Under replace-one a sum over {0, 1, 2} moves by 2, not by 1."""
    finding = exact_audit(
        lambda table: clamped_laplace(count(table), Fraction(2), MOST), replace_one_pairs((0, 1, 2), 4)
    )
    assert finding.loss == pytest.approx(1)
    assert abs(count(finding.first) - count(finding.second)) == 2
    assert not finding.within(Fraction(1, 2))


def test_a_range_read_from_the_rows_is_found():
    """Clamping to the private number of rows makes an answer possible in one world only."""
    finding = exact_audit(lambda table: clamped_laplace(count(table), Fraction(2), len(table) + 1), PAIRS)
    assert finding.loss == math.inf
    assert finding.answer == max(len(finding.first), len(finding.second)) + 1


def test_a_float_leak_is_found():
    """Laplace noise by inversion of a float uniform: answers from 0 and from 1 fall into different holes of the lattice."""

    def float_laplace(value: int) -> dict[float, Fraction]:
        law: dict[float, Fraction] = {}
        for k in range(1, 256):
            for sign in (1, -1):
                answer = value + sign * 2.0 * math.log(k / 256)
                law[answer] = law.get(answer, Fraction(0)) + Fraction(1, 510)
        return law

    assert exact_audit(float_laplace, [(0, 1)]).loss == math.inf


def test_the_delta_curve_of_randomised_response():
    def law(bit):
        return {bit: Fraction(3, 4), 1 - bit: Fraction(1, 4)}

    epsilons = [0, math.log(2), math.log(3), 2]
    assert delta_curve(law, [(0, 1)], epsilons) == pytest.approx([0.5, 0.25, 0, 0], abs=1e-12)


def test_delta_is_what_an_impossible_answer_weighs():
    def law(bit):
        return {"seen": Fraction(1, 10)} | {"other": Fraction(9, 10)} if bit else {"other": Fraction(1)}

    assert delta_curve(law, [(0, 1)], [0, 5]) == pytest.approx([0.1, 0.1])
    assert exact_audit(law, [(0, 1)]).loss == math.inf


def test_probabilities_too_small_for_a_float_are_compared():
    tiny = Fraction(1, 10**400)

    def law(bit):
        return {0: (1 + bit) * tiny, 1: 1 - (1 + bit) * tiny}

    assert exact_audit(law, [(0, 1)]).loss == pytest.approx(math.log(2))


def test_logarithms_are_taken_as_they_are():
    def law(bit):
        return {bit: math.log(0.8), 1 - bit: math.log(0.2), 7: -math.inf}

    assert exact_audit(law, [(0, 1)], logs=True).loss == pytest.approx(math.log(4))


def test_what_is_no_law_is_refused():
    with pytest.raises(ValueError, match="add up to one"):
        exact_audit(lambda _: {0: Fraction(1, 2)}, [(0, 1)])
    with pytest.raises(ValueError, match="no pair"):
        exact_audit(lambda _: {0: Fraction(1)}, [])
