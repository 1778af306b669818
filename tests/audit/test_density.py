from __future__ import annotations

import math

import numpy as np
import pytest

from wallflower.audit.density import density_audit, hockey_stick, wide_grid


def laplace(x):
    return -np.abs(x) - np.log(2)


def gauss(x):
    return -(x**2) / 2 - np.log(2 * np.pi) / 2


def lomax(alpha):
    """Two-sided power-law noise, density (alpha/2)(1 + |x|)^(−alpha−1): made for scales that move."""
    return lambda x: -(alpha + 1) * np.log1p(np.abs(x)) + np.log(alpha / 2)


def test_the_grid_is_symmetric_and_reaches_far():
    grid = wide_grid()
    assert 0 in grid
    assert grid[-1] == pytest.approx(1e9)
    assert np.allclose(grid, -grid[::-1])


def test_laplace_noise_loses_what_it_promises():
    finding = density_audit(laplace, shifts=[-0.5, 0.5], scales=[1.0])
    assert finding.loss == pytest.approx(0.5)
    assert finding.within(0.5)


def test_half_the_noise_is_found():
    half = lambda x: laplace(2 * x) + np.log(2)  # noqa: E731
    finding = density_audit(half, shifts=[-0.5, 0.5], scales=[1.0])
    assert finding.loss == pytest.approx(1.0)
    assert not finding.within(0.5)


def test_a_wrong_sensitivity_is_found():
    assert not density_audit(laplace, shifts=[-1.0, 1.0], scales=[1.0]).within(0.5)


def test_a_scale_read_from_the_rows_is_found():
    """Laplace noise whose scale moves between neighbours, however little, loses without bound in the tails."""
    finding = density_audit(laplace, shifts=[0.0], scales=[math.exp(-0.01), math.exp(0.01)])
    assert finding.loss > 1e6
    assert abs(finding.answer) > 1e8


def test_power_law_noise_survives_a_moving_scale():
    alpha, beta, shift = 3.0, 0.1, 0.2
    corners = [math.exp(-beta), 1.0, math.exp(beta)]
    finding = density_audit(lomax(alpha), shifts=[-shift, 0.0, shift], scales=corners)
    assert finding.within((alpha + 1) * (math.log1p(shift) + beta) + beta)  # a crude bound that always holds
    assert finding.loss > alpha * beta - 1e-6  # attained far out in the tails


def test_an_impossible_answer_is_an_infinite_loss():
    def box(x):
        with np.errstate(divide="ignore"):
            return np.log(np.where(np.abs(x) <= 1, 0.5, 0.0))

    assert density_audit(box, shifts=[0.1], scales=[1.0]).loss == math.inf


def test_the_hockey_stick_of_gaussian_noise_is_that_of_balle_and_wang():
    from scipy.stats import norm

    for shift, epsilon in ((1.0, 0.5), (0.3, 1.0), (2.0, 0.0)):
        exact = norm.cdf(shift / 2 - epsilon / shift) - math.exp(epsilon) * norm.cdf(-shift / 2 - epsilon / shift)
        assert hockey_stick(gauss, epsilon=epsilon, shift=shift) == pytest.approx(exact, abs=1e-7)
        assert hockey_stick(gauss, epsilon=epsilon, shift=2 * shift) > exact + 1e-3  # half the noise


def test_the_hockey_stick_of_laplace_noise_ends_at_its_epsilon():
    assert hockey_stick(laplace, epsilon=1.0, shift=1.0) == pytest.approx(0, abs=1e-7)
    assert hockey_stick(laplace, epsilon=0.5, shift=1.0) == pytest.approx(1 - math.exp((0.5 - 1) / 2), abs=1e-7)


def test_noise_of_one_side_is_moved_the_way_it_is_said():
    """Between noise ≥ 0 and the same moved up by one, an answer below one is impossible under the moved one alone."""

    def one_sided(x):
        return np.where(x >= 0, -x, -np.inf)

    found = density_audit(one_sided, shifts=[1.0], scales=[1.0], grid=np.linspace(0, 10, 11))
    assert (found.loss, found.answer) == (np.inf, 0.0)
