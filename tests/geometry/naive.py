"""The slow, obvious twins of the compiled radius kernels."""

from __future__ import annotations

import numpy as np


def within(points, queries, ball):
    """A boolean matrix [query, point], in Python integers."""
    gaps = queries[:, None, :].astype(object) - points[None, :, :].astype(object)
    return (gaps**2 * np.array(ball.weights, dtype=object)).sum(axis=2) <= ball.limit


def counts(points, queries, ball, cap):
    if not len(points) or not len(queries):
        return np.zeros(len(queries), dtype=np.int64)
    return np.minimum(within(points, queries, ball).sum(axis=1), cap).astype(np.int64)
