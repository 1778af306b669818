"""NOT PRIVATE: readings of the paper that leak. They exist to be attacked by tests/explain/test_attacks.py and used nowhere else."""

from __future__ import annotations

from wallflower.explain.languages import Vocabulary
from wallflower.explain.space import Space
from wallflower.schema.domains import Categories


def best_start(valid, scores):
    """NOT PRIVATE: "an initial search" that starts where the utility is best. The start depends on rows beyond the valid set."""
    return max(sorted(valid), key=lambda index: scores[index]) if valid else None


def space_from_rows(rows, columns, own):
    """NOT PRIVATE: contexts over the values that occur. That a value is named says that some row holds it."""
    fetched = rows.fetch(codes=columns).codes
    seen = [sorted({int(code) for code in column} | {mine}) for column, mine in zip(fetched.T, own, strict=True)]
    words = [
        Vocabulary(name, Categories(tuple(f"v{code}" for code in codes)), "sets")
        for name, codes in zip(columns, seen, strict=True)
    ]
    places = tuple(codes.index(mine) for codes, mine in zip(seen, own, strict=True))
    return Space.of(words, own=places)


def ratio_on_common_contexts(one, other):
    """What the paper measured in 6.7: the worst ratio over contexts valid for both tables. It cannot see an impossible answer."""
    return max(max(one[c] / other[c], other[c] / one[c]) for c in one.keys() & other.keys())


def argmax_score(rho, *, most_extreme):
    """NOT PRIVATE: the distance to flipping, but 0 when a separate test fails. One row can take it from any height to 0."""
    return rho if most_extreme else 0
