"""What each member of a group may hold in a world that agrees with everyone's flag (`worlds.py` says what that means).

Members and distinct values are numbered from 0. `fits[i, s]`: member i, holding s, has the flag it has.
"""
# ruff: noqa: C901, PLR0912, PLR0917 - numba compiles plain loops and positional arguments; helpers cost compile time

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel
from wallflower.geometry.face_kernels import FARTHEST, INSIDE, NO, WIDTH, YES, Blocks, face, hoped, normal
from wallflower.publish.range_kernels import part, split

Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]


@kernel(error_model="numpy")
def outlying_with(blocks: Blocks, guide: Blocks, people: Whole, values: Whole, out: Flags) -> None:
    """Fill out[i, j]: whether the quasi-identifiers of person i are a (p, d)-outlier with value j.

    A part of the people with a part of the values is settled by one count where its whole box is surely normal or surely outlying,
    and parted where it is not; single pairs are asked exactly. The guide only says which questions to leave out.
    """
    quasi = people.shape[1]
    axes = quasi + values.shape[1]
    mid = np.empty(axes, np.float32)
    half = np.empty(axes, np.float32)
    room = np.empty(WIDTH, np.float32)
    point = np.empty(axes, np.int64)
    who = np.arange(people.shape[0])
    what = np.arange(values.shape[0])
    stack = [(0, people.shape[0], 0, values.shape[0])]
    while len(stack) > 0:
        first, last, start, stop = stack.pop()
        if last <= first or stop <= start:
            continue
        wide, cut = split(people, who, first, last, blocks, 0, mid, half)
        long, middle = split(values, what, start, stop, blocks, quasi, mid, half)
        if wide < 0 and long < 0:
            point[:quasi] = people[who[first]]
            point[quasi:] = values[what[start]]
            found = not normal(blocks, point, mid, half, room)
            for i in range(first, last):
                for j in range(start, stop):
                    out[who[i], what[j]] = found
            continue
        answer = -1
        if hoped(guide, mid, half, FARTHEST, room) and face(blocks, mid, half, FARTHEST, room) == YES:
            answer = 0
        elif hoped(guide, mid, half, INSIDE, room) and face(blocks, mid, half, INSIDE, room) == NO:
            answer = 1
        if answer >= 0:
            for i in range(first, last):
                for j in range(start, stop):
                    out[who[i], what[j]] = answer == 1
        elif long < 0 or (wide >= 0 and half[wide] >= half[quasi + long]):
            between = part(people, who, first, last, wide, cut)
            stack.append((first, between, start, stop))
            stack.append((between, last, start, stop))
        else:
            between = part(values, what, start, stop, long, middle)
            stack.append((first, last, start, between))
            stack.append((first, last, between, stop))


@kernel(error_model="numpy")
def _exchangeable(fits: Flags, held: Whole, alive: Flags, label: Whole) -> None:
    """Number the strongly connected parts of the values: s leads to t when some holder of s fits t. Values nobody holds get −1."""
    many = fits.shape[1]
    leads = np.zeros((many, many), np.bool_)
    present = np.zeros(many, np.bool_)
    for i in range(held.size):
        if alive[i]:
            s = held[i]
            present[s] = True
            row = leads[s]
            other = fits[i]
            for t in range(many):
                row[t] |= other[t]
    label[:] = -1
    stack = np.empty(many, np.int64)
    ahead = np.empty(many, np.bool_)
    behind = np.empty(many, np.bool_)
    for s in range(many):
        if not present[s] or label[s] >= 0:
            continue
        for way in range(2):
            seen = ahead if way == 0 else behind
            seen[:] = False
            seen[s] = True
            stack[0] = s
            depth = 1
            while depth > 0:
                depth -= 1
                u = stack[depth]
                for t in range(many):
                    if present[t] and not seen[t] and (leads[u, t] if way == 0 else leads[t, u]):
                        seen[t] = True
                        stack[depth] = t
                        depth += 1
        for t in range(many):
            if ahead[t] and behind[t]:
                label[t] = s


@kernel(error_model="numpy")
def possible(fits: Flags, held: Whole, alive: Flags, codes: Whole, label: Whole, counts: Whole) -> None:
    """For each member alive the least number, over the sensitive columns, of different values it has in some world; 0 for others."""
    _exchangeable(fits, held, alive, label)
    many, columns = codes.shape
    stamp = np.zeros((columns, codes.max() + 1 if codes.size else 1), np.int64)
    counts[:] = 0
    for i in range(held.size):
        if not alive[i]:
            continue
        least = many
        for a in range(columns):
            found = 0
            for t in range(many):
                if fits[i, t] and label[t] == label[held[i]] and stamp[a, codes[t, a]] != i + 1:
                    stamp[a, codes[t, a]] = i + 1
                    found += 1
            least = min(least, found)
        counts[i] = least


@kernel(error_model="numpy")
def peel(fits: Flags, held: Whole, alive: Flags, codes: Whole, label: Whole, counts: Whole, least: int) -> int:
    """Take out of `alive` everyone with fewer than `least` possible values, again and again; returns how many stay."""
    while True:
        possible(fits, held, alive, codes, label, counts)
        left = 0
        gone = 0
        for i in range(held.size):
            if alive[i]:
                if counts[i] < least:
                    alive[i] = False
                    gone += 1
                else:
                    left += 1
        if gone == 0:
            return left


@kernel(error_model="numpy")
def unmatched(out: Flags, held: Whole, forced: Flags, alive: Flags, stuck: Flags) -> int:
    """Mark in `stuck` members that stay outlying in every way to hand out the lines to which those before them were fitted.

    Everyone not forced must be normal with the line it gets. Normal and forced members begin with their own lines; each of the
    others in turn looks for a free line along an augmenting path. Returns how many are stuck: 0 iff a perfect assignment exists.
    """
    members = held.size
    many = out.shape[1]
    given = np.full(members, -1, np.int64)  # the value whose line a member has
    free = np.zeros(many, np.int64)
    waiting = 0
    stuck[:] = False
    for i in range(members):
        if alive[i]:
            if forced[i] or not out[i, held[i]]:
                given[i] = held[i]
            else:
                free[held[i]] += 1
                waiting += 1
    if waiting == 0:
        return 0
    failed = 0
    came = np.empty(many, np.int64)  # the member that would take a line of this value
    queue = np.empty(many, np.int64)
    for i in range(members):
        if not alive[i] or given[i] >= 0:
            continue
        came[:] = -1
        head = 0
        tail = 0
        for t in range(many):
            if not out[i, t]:
                came[t] = i
                queue[tail] = t
                tail += 1
        end = -1
        while head < tail and end < 0:
            s = queue[head]
            head += 1
            if free[s] > 0:
                end = s
                break
            for j in range(members):
                if alive[j] and given[j] == s:
                    for t in range(many):
                        if came[t] < 0 and (forced[j] or not out[j, t]):
                            came[t] = j
                            queue[tail] = t
                            tail += 1
        if end < 0:
            stuck[i] = True
            failed += 1
            continue
        free[end] -= 1
        while True:
            j = came[end]
            before = given[j]
            given[j] = end
            if j == i:
                break
            end = before
    return failed
