"""The two-state decoder against a slow twin over all state sequences, its learning, its fallback, and what it gives away."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.detectors.two_state import TwoState
from wallflower.detectors.two_state_kernels import passes


def twin(bits, keep, first, rise, fall):
    """P(state 1 | bits), the log-likelihood and the expected moves, by summing over every sequence of states."""
    total, ones, moves = 0.0, np.zeros(len(bits)), np.zeros((2, 2))
    for states in itertools.product((0, 1), repeat=len(bits)):
        weight = first if states[0] else 1 - first
        for before, after in itertools.pairwise(states):
            weight *= {(0, 0): 1 - rise, (0, 1): rise, (1, 0): fall, (1, 1): 1 - fall}[before, after]
        for state, bit in zip(states, bits, strict=True):
            weight *= keep if bool(state) == bool(bit) else 1 - keep
        total += weight
        ones += weight * np.array(states)
        for before, after in itertools.pairwise(states):
            moves[before, after] += weight
    return ones / total, math.log(total), moves / total


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.booleans(), min_size=1, max_size=9), st.floats(0.51, 0.99), st.floats(0.01, 0.99), st.floats(0.01, 0.6),
    st.floats(0.01, 0.6),
)  # fmt: skip
def test_the_passes_equal_the_sum_over_all_sequences(bits, keep, first, rise, fall):
    posterior = np.empty(len(bits))
    likelihood, *moves = passes(np.array(bits), keep, first, rise, fall, posterior)
    expected, total, counted = twin(bits, keep, first, rise, fall)
    assert posterior == pytest.approx(expected, abs=1e-9)
    assert likelihood == pytest.approx(total, abs=1e-9)
    assert np.array(moves).reshape(2, 2) == pytest.approx(counted, abs=1e-9)


def episodes(rng, windows, length, episode, gap):
    """States that stay 1 for about `episode` readings and 0 for about `gap`."""
    states = np.zeros(windows * length, dtype=bool)
    place = int(rng.integers(gap))
    while place < len(states):
        lasts = 1 + int(rng.exponential(episode))
        states[place : place + lasts] = True
        place += lasts + 1 + int(rng.exponential(gap))
    return states.reshape(windows, length)


def f1(found, truth):
    right = float((found & truth).sum())
    return 2 * right / max(float(found.sum() + truth.sum()), 1.0)


def decoded(states, epsilon, seed):
    keep = 1 / (1 + math.exp(-epsilon))
    rng = np.random.default_rng(seed)
    decoder, found = TwoState(keep=keep), []
    for window in states:
        probability, decoder = decoder.decode(window ^ (rng.random(len(window)) > keep))
        found.append(probability > 0.5)
    return np.array(found), decoder


def test_long_episodes_are_found_through_bits_that_are_each_well_hidden():
    """The decoder is also the attack: at ε = 1 a reading, an episode of 200 readings is plain to see."""
    states = episodes(np.random.default_rng(1), 12, 1000, 200, 800)
    found, decoder = decoded(states, 1.0, 2)
    assert f1(found, states) > 0.9
    assert decoder.gain > 3
    alone = np.random.default_rng(2).random(states.shape) < 1 / (1 + math.exp(-1.0))
    assert f1(found, states) > f1(states ^ ~alone, states) + 0.3  # than the bits themselves


def test_short_episodes_fall_back_to_single_readings():
    states = episodes(np.random.default_rng(3), 6, 1000, 0.3, 60)
    rng = np.random.default_rng(4)
    shuffled = rng.permutation(states.ravel()).reshape(states.shape)
    found, decoder = decoded(shuffled, 1.0, 5)
    assert decoder.gain < 3
    assert found.mean() < 0.2  # it does not make episodes up
    at_four, _ = decoded(shuffled, 6.0, 6)
    assert f1(at_four, shuffled) > 0.8


def test_nothing_is_found_where_nothing_is():
    found, _ = decoded(np.zeros((8, 1000), dtype=bool), 1.0, 7)
    assert found.mean() < 0.02


def test_a_decoder_is_a_value_and_the_order_of_windows_is_all_it_remembers():
    states = episodes(np.random.default_rng(8), 3, 500, 100, 300)
    one, after_one = decoded(states, 1.5, 9)
    two, after_two = decoded(states, 1.5, 9)
    assert np.array_equal(one, two)
    assert after_one == after_two


def test_what_was_seen_before_counts_nine_tenths_one_window_later():
    bits = np.array([False] * 30 + [True] * 10)
    fresh = TwoState(keep=0.73)
    learnt = replace(fresh, moves=((40.0, 1.0), (1.0, 9.0)), gain=2.0)
    nothing = replace(fresh, moves=((0.0, 0.0), (0.0, 0.0)))
    for before in (learnt, nothing):
        _, after = before.decode(bits)
        seen = sum(map(sum, after.moves)) - 0.9 * sum(map(sum, before.moves))
        assert seen == pytest.approx(len(bits) - 1)  # each pair of bits that follow each other is one move
