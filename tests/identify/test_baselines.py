"""The paper's baselines: their count moves by 2β on a line, not β; and their chances are what sampling shows."""

from __future__ import annotations

import numpy as np
import pytest
from experiments.sensitive_privacy_2022.baselines import (
    anomalous_records,
    best,
    chance_of_yes,
    difference_above,
    witness,
)


@pytest.mark.parametrize("beta", [1, 2, 4, 7])
def test_one_record_moves_the_number_of_anomalies_by_twice_beta(beta):
    """The published claim is β; noise for it leaves e^(2ε) where e^ε was promised."""
    before, after = witness(beta)
    assert abs(anomalous_records(before, beta, 1) - anomalous_records(after, beta, 1)) == 2 * beta


@pytest.mark.parametrize("beta", [1, 2, 3])
def test_the_claim_holds_for_radius_zero(beta):
    rng = np.random.default_rng(beta)
    for _ in range(300):
        table = rng.integers(0, 3, int(rng.integers(0, 12))).tolist()
        more = [*table, int(rng.integers(0, 3))]
        assert abs(anomalous_records(table, beta, 0) - anomalous_records(more, beta, 0)) <= beta


@pytest.mark.parametrize("beta", [1, 2, 3])
def test_on_a_line_twice_beta_is_never_exceeded(beta):
    rng = np.random.default_rng(beta)
    for _ in range(400):
        table = rng.integers(0, 6, int(rng.integers(0, 14))).tolist()
        more = [*table, int(rng.integers(0, 6))]
        assert abs(anomalous_records(table, beta, 1) - anomalous_records(more, beta, 1)) <= 2 * beta


@pytest.mark.parametrize(("least", "first", "second"), [(-3, 2, 1), (0, 2, 1), (4, 1, 3), (2, 2, 2), (1, 2, 0)])
def test_the_chance_of_a_difference_of_laplace_draws(least, first, second):
    rng = np.random.default_rng(3)
    second_draws = rng.laplace(0, second, 400_000) if second else 0
    seen = (rng.laplace(0, first, 400_000) - second_draws > least).mean()
    assert difference_above(least, first, second) == pytest.approx(seen, abs=0.005)


def test_the_published_noise_breaks_its_own_promise():
    """B2 with Lap(β/ε) on the witness: the loss is above the claimed 2ε, and with Lap(2β/ε) it is not."""
    beta, epsilon = 20, 0.5
    before, after = (anomalous_records(table, beta, 1) for table in witness(beta))
    size = 2 * beta

    def loss(scale):
        worst = 0.0
        for step in range(1001):
            one, other = (
                chance_of_yes(o, n, step / 100, scale=scale, epsilon=epsilon)
                for o, n in ((before, size), (after, size + 1))
            )
            worst = max(worst, *(abs(np.log(a / b)) for a, b in ((one, other), (1 - one, 1 - other)) if min(a, b) > 0))
        return worst

    assert loss(beta / epsilon) > 2 * epsilon
    assert loss(2 * beta / epsilon) <= 2 * epsilon + 1e-9


def test_the_best_baseline_says_yes_to_everything():
    precision, recall, f1 = best(201, 20_000, scale=10.0, epsilon=0.1)
    assert precision == pytest.approx(0.01005)
    assert recall > 0.999
    assert f1 == pytest.approx(0.0199, abs=1e-4)
