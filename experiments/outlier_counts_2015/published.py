"""What the paper prints. NOT PRIVATE: every function here says why. Nothing here is used by the package."""

from __future__ import annotations

import itertools
import math

import numpy as np

from wallflower.mechanisms.top import TopH

DELTA = 0.01


def lower_sensitivity(size: int, width: int, k: int) -> int:
    """Equation (3), left side, which Figures 3 and 4 use as the global sensitivity. NOT PRIVATE: the pentagon needs 5k + 1 > 4k + 1."""
    return min(size, 2 * width * k + 1)


def gaussian_deviation(sensitivity: float, epsilon: float, delta: float = DELTA) -> float:
    """Theorem 1: valid if the sensitivity is."""
    return sensitivity * math.sqrt(2 * math.log(2 / delta)) / epsilon


def smooth_by_epsilon(bounds, epsilon: float) -> float:
    """Section 4.2.2 and Algorithm 2 as printed: e^(−tε) where Theorem 2 needs e^(−tβ), β = ε/(4(1 + ln 2/δ)). NOT PRIVATE."""
    return max(math.exp(-epsilon * t) * bound for t, bound in enumerate(bounds))


def printed_top_h(h: int, epsilon, sensitivity: int) -> TopH:
    """Algorithm 3: e^(ε/h·u) in each of h draws. NOT PRIVATE at the stated ε: each draw costs 2ε/h, together 2ε."""
    return TopH(h=h, exponent=epsilon / (h * sensitivity))


def enclosing_radius(points) -> float:
    """The radius of the smallest ball around points of two columns: the largest over pairs and triples of their own."""
    points = np.asarray(points, dtype=float)
    if len(points) < 2:
        return 0.0
    best = math.inf
    candidates = [((a + b) / 2, np.linalg.norm(a - b) / 2) for a, b in itertools.combinations(points, 2)]
    for a, b, c in itertools.combinations(points, 3):
        matrix = 2 * np.array([b - a, c - a])
        if abs(np.linalg.det(matrix)) > 1e-12:
            centre = np.linalg.solve(matrix, [b @ b - a @ a, c @ c - a @ a])
            candidates.append((centre, np.linalg.norm(a - centre)))
    for centre, radius in candidates:
        if radius < best and np.all(np.linalg.norm(points - centre, axis=1) <= radius + 1e-9):
            best = radius
    return best


def algorithm_1(points, radius: float, *, printed: bool, chosen=(), i: int = 1) -> int:
    """The largest subset in one ball, by enumerating subsets.

    `printed`: line 8 tests i < |P| with i from 1 and so never tries the last point. NOT PRIVATE: the sensitivity comes out too
    small (0 for one point). Not printed: i ≤ |P|.
    """
    if chosen and enclosing_radius(chosen) > radius + 1e-9:
        return 0
    most = len(chosen)
    if (i < len(points)) if printed else (i <= len(points)):
        with_it = algorithm_1(points, radius, printed=printed, chosen=(*chosen, points[i - 1]), i=i + 1)
        without = algorithm_1(points, radius, printed=printed, chosen=chosen, i=i + 1)
        most = max(most, with_it, without)
    return most


def sweep(points, radius: float) -> int:
    """The most points of two columns in one ball, by turning a ball around each point (doubles, a hair inflated)."""
    points = np.asarray(points, dtype=float)
    best = min(len(points), 1)
    reach = radius * (1 + 1e-9)
    for place, pivot in enumerate(points):
        gaps = np.delete(points, place, axis=0) - pivot
        lengths = np.linalg.norm(gaps, axis=1)
        coincident = int((lengths == 0).sum())
        near = (lengths > 0) & (lengths <= 2 * reach)
        angles = np.arctan2(gaps[near, 1], gaps[near, 0])
        halves = np.arccos(np.clip(lengths[near] / (2 * reach), -1, 1)) + 1e-9
        starts, ends = (angles - halves) % (2 * np.pi), (angles + halves) % (2 * np.pi)
        inside = int((starts > ends).sum())
        turns = sorted([(angle, 0) for angle in starts] + [(angle, 1) for angle in ends])
        best = max(best, 1 + coincident + inside)
        for _, leaves in turns:
            inside += -1 if leaves else 1
            best = max(best, 1 + coincident + inside)
    return best


def exact_bounds(points, degrees, k: int, radius: float) -> list[int]:
    """Theorem 6 in two columns, exactly: max over x of both windows, + t + 1, at most N (line 6 and Proposition 1)."""
    size, bounds = len(points), []
    for t in range(size + 1):
        held = max(sweep(points[np.abs(degrees - j) <= t], radius) for j in (k, k - 1))
        bounds.append(min(size, held + t + 1))
    return bounds
