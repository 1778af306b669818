"""In which share of a group's worlds a member holds a value: counted for small groups, walked for large ones."""
# ruff: noqa: C901, PLR0912 - numba compiles plain loops; helpers cost compile time

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel

Doubles = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel(error_model="numpy")
def counted(fits: Flags, held: Whole, shares: Doubles) -> None:
    """shares[i, s]: the share of all worlds in which member i holds value s, each way to hand out the lines being as likely.

    Worlds that hand the lines of a set to the first members are counted for every set, and so are those that hand the rest to the
    others: a few thousand sets for a dozen members. Counts below 2^53 are exact.
    """
    members = held.size
    sets = 1 << members
    ahead = np.zeros(sets)
    behind = np.zeros(sets)
    many = np.zeros(sets, np.int64)
    for lines in range(1, sets):
        many[lines] = many[lines & (lines - 1)] + 1
    ahead[0] = 1.0
    for lines in range(sets):
        i = many[lines]
        if ahead[lines] == 0 or i == members:
            continue
        for line in range(members):
            if not (lines >> line) & 1 and fits[i, held[line]]:
                ahead[lines | (1 << line)] += ahead[lines]
    behind[sets - 1] = 1.0
    for lines in range(sets - 1, -1, -1):
        i = many[lines]
        if i == members:
            continue
        for line in range(members):
            if not (lines >> line) & 1 and fits[i, held[line]]:
                behind[lines] += behind[lines | (1 << line)]
    shares[:] = 0
    for lines in range(sets):
        i = many[lines]
        if i == members or ahead[lines] == 0:
            continue
        for line in range(members):
            if not (lines >> line) & 1 and fits[i, held[line]]:
                shares[i, held[line]] += ahead[lines] * behind[lines | (1 << line)] / ahead[sets - 1]


@kernel(error_model="numpy")
def walked(fits: Flags, held: Whole, steps: int, shares: Doubles) -> None:
    """The same, estimated: from the truth, again and again two or three members exchange lines where everybody's flag allows it.

    The numbers that choose them follow a fixed rule, so that the same group gives the same estimate; nothing private is drawn.
    """
    members = held.size
    own = held.copy()
    state = np.uint64(0x9E3779B97F4A7C15)
    chosen = np.empty(3, np.int64)
    shares[:] = 0
    since = np.zeros(members, np.int64)  # when each member got the line it has
    for step in range(steps):
        for c in range(3):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            chosen[c] = np.int64((state >> np.uint64(33)) % np.uint64(members))
        a = chosen[0]
        b = chosen[1]
        c = chosen[2]
        if a == b:
            continue
        if c in (a, b):
            if fits[a, own[b]] and fits[b, own[a]]:
                shares[a, own[a]] += step - since[a]
                shares[b, own[b]] += step - since[b]
                since[a] = step
                since[b] = step
                own[a], own[b] = own[b], own[a]
        elif fits[a, own[b]] and fits[b, own[c]] and fits[c, own[a]]:
            for m in (a, b, c):
                shares[m, own[m]] += step - since[m]
                since[m] = step
            first = own[a]
            own[a] = own[b]
            own[b] = own[c]
            own[c] = first
    for m in range(members):
        shares[m, own[m]] += steps - since[m]
    for m in range(members):
        for s in range(shares.shape[1]):
            shares[m, s] /= steps
