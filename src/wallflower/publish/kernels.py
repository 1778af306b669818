"""Counting near rows fast and exactly.

Rows lie in blocks of WIDTH with a bounding box each, coordinates divided by d so that "near" is Σ x² ≤ 1. A count first
runs in float32 with a margin that covers its rounding: rows below the margin are surely near, rows above surely far. Only
when the answer hangs on rows inside the margin are these decided one by one, in float64 and, within 10^-13, in whole numbers
modulo 2^64 (`space.MOST_BITS` says why their sign is then right). So `near` is exact.

A whole face of a box is decided with one count: by the distance to its FARTHEST point ("every point of it is normal"), or
to the nearest of its ENDS or to its INSIDE ("no corner is normal", "no point is normal").
"""
# ruff: noqa: C901, FBT001, PLR0912, PLR0915, PLR0917 - numba compiles plain loops and positional arguments; helpers cost compile time

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wallflower.compiling import kernel

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
Whole = NDArray[np.int64]
Flags = NDArray[np.bool_]

WIDTH = 256
FARTHEST, ENDS, INSIDE = 0, 1, 2
YES, NO, UNSURE, ALL = 1, 0, 2, 3
FREE, LOW, HIGH = 0, 1, 2
BUNCH = 32
"""Groups whose bounds are compared with a left-over row before they are."""
_CLASSES, _FINENESS = 16, 5
"""Blocks are looked at by classes of least + greatest distance, this many to a unit."""


class Blocks(NamedTuple):
    """Rows in blocks. Axes: quasi-identifiers first, then sensitive columns; an axis without weight has coordinates 0."""

    x: NDArray[Any]
    """[block, axis, WIDTH]: places above the lowest of the block, in as few bytes as hold them, because reading them is what
    takes time in a large table. A coordinate is base + x·unit. Only the first `fill` of a block count.
    """
    v: NDArray[np.int64]
    """The same as whole places."""
    low: NDArray[np.float32]
    high: NDArray[np.float32]
    """[axis, block]: the bounding box of a block's rows, laid out so that all boxes are compared at once."""
    base: NDArray[np.float32]
    fixed: NDArray[np.bool_]
    """[block, axis]: `low` again, and whether it is `high`."""
    low_place: NDArray[np.int64]
    high_place: NDArray[np.int64]
    """[block, axis]: the same as whole places."""
    fill: NDArray[np.int64]
    centre: NDArray[np.float64]
    scale: NDArray[np.float64]
    """A coordinate is (v − centre)·scale."""
    unit: NDArray[np.float32]
    """`scale` again."""
    ratio: NDArray[np.float64]
    """factor / limit, for float64"""
    factor: NDArray[np.uint64]
    """factor modulo 2^64"""
    limit: np.uint64
    margin: np.float32
    rows: int
    enough: int
    """Normal: more than this many rows are near."""


@kernel(error_model="numpy")
def _reach(blocks: Blocks, mid: Floats, half: Floats, mode: int) -> Floats:
    """Least and greatest squared distance between a row of each block and the face: [2, block]."""
    reach = np.zeros((2, blocks.fill.size), np.float32)
    least = reach[0]
    most = reach[1]
    zero = np.float32(0)
    for a in range(mid.size):
        low = blocks.low[a]
        high = blocks.high[a]
        m = mid[a]
        h = half[a]
        if mode == FARTHEST or h == 0:
            for b in range(least.size):
                below = low[b] - m
                above = high[b] - m
                near = max(below, -above, zero) + h
                far = max(abs(below), abs(above)) + h
                least[b] += near * near
                most[b] += far * far
        elif mode == ENDS:
            for b in range(least.size):
                below = low[b] - m
                above = high[b] - m
                near = max(below, -above, zero) - h
                far = max(abs(below), abs(above)) - h
                nearest = max(near, -far, zero)
                farthest = max(abs(near), abs(far))
                least[b] += nearest * nearest
                most[b] += farthest * farthest
        else:
            for b in range(least.size):
                below = low[b] - m
                above = high[b] - m
                near = max(max(below, -above, zero) - h, zero)
                far = max(max(abs(below), abs(above)) - h, zero)
                least[b] += near * near
                most[b] += far * far
    return reach


@kernel(error_model="numpy")
def _measure(
    x: NDArray[Any], unit: Floats, base: Floats, fixed: Flags, b: int, mid: Floats, half: Floats, mode: int, out: Floats
) -> None:
    """Squared distances of one block's rows. Columns in which the block has one value are settled at once."""
    same = np.float32(0)
    for a in range(mid.size):
        if fixed[b, a]:
            t = abs(base[b, a] - mid[a])
            if mode == FARTHEST:
                t += half[a]
            elif mode == ENDS:
                t -= half[a]
            else:
                t = max(t - half[a], np.float32(0))
            same += t * t
    for i in range(WIDTH):
        out[i] = same
    for a in range(mid.size):
        if fixed[b, a]:
            continue
        m = mid[a] - base[b, a]
        u = unit[a]
        h = half[a]
        row = x[b, a]
        if h == 0:
            for i in range(WIDTH):
                t = np.float32(row[i]) * u - m
                out[i] += t * t
        elif mode == FARTHEST:
            for i in range(WIDTH):
                t = abs(np.float32(row[i]) * u - m) + h
                out[i] += t * t
        elif mode == ENDS:
            for i in range(WIDTH):
                t = abs(np.float32(row[i]) * u - m) - h
                out[i] += t * t
        else:
            for i in range(WIDTH):
                t = max(abs(np.float32(row[i]) * u - m) - h, np.float32(0))
                out[i] += t * t


@kernel(error_model="numpy", fastmath={"reassoc"})
def _tally(squares: Floats, many: int, edge: np.float32) -> int:
    """How many of the first `many` are at most `edge`; counted in float32, exact up to 2^24, because that fills the registers."""
    count = np.float32(0)
    for i in range(many):
        count += np.float32(1) if squares[i] <= edge else np.float32(0)
    return int(count)


@kernel(error_model="numpy")
def _class_of(both: np.float32) -> int:
    return int(
        min(both * np.float32(_FINENESS), np.float32(_CLASSES - 1))
    )  # the least first: an integer holds no 10^30


@kernel(error_model="numpy")
def face(blocks: Blocks, mid: Floats, half: Floats, mode: int, room: Floats) -> int:
    """YES: surely more than `enough` rows are near. NO: surely not. UNSURE: it hangs on rows inside the margin."""
    sure = 0
    rest = 0
    lower = np.float32(1) - blocks.margin
    upper = np.float32(1) + blocks.margin
    reach = _reach(blocks, mid, half, mode)
    starts = np.zeros(_CLASSES + 1, np.int64)
    for b in range(blocks.fill.size):
        if reach[1, b] <= lower:
            sure += blocks.fill[b]
        elif reach[0, b] <= upper:
            rest += blocks.fill[b]
            starts[_class_of(reach[0, b] + reach[1, b]) + 1] += 1
    if sure > blocks.enough:
        return YES
    if sure + rest <= blocks.enough:
        return NO
    for c in range(_CLASSES):
        starts[c + 1] += starts[c]
    order = np.empty(starts[_CLASSES], np.int64)  # blocks more inside than outside first: they settle a yes soonest
    for b in range(blocks.fill.size):
        if reach[1, b] > lower and reach[0, b] <= upper:
            c = _class_of(reach[0, b] + reach[1, b])
            order[starts[c]] = b
            starts[c] += 1
    maybe = sure
    for b in order:
        _measure(blocks.x, blocks.unit, blocks.base, blocks.fixed, b, mid, half, mode, room)
        sure += _tally(room, blocks.fill[b], lower)
        maybe += _tally(room, blocks.fill[b], upper)
        rest -= blocks.fill[b]
        if sure > blocks.enough:
            return YES
        if maybe + rest <= blocks.enough:
            return NO
    return UNSURE


@kernel(error_model="numpy")
def _hoped(guide: Blocks, mid: Floats, half: Floats, mode: int, room: Floats) -> Any:
    """Whether a face is worth asking all rows about, as far as the guide can tell."""
    if guide.rows == 0:
        return True
    answer = face(guide, mid, half, mode, room)
    return answer == YES if mode == FARTHEST else answer == NO


@kernel(error_model="numpy")
def _exactly_near(blocks: Blocks, b: int, i: int, point: Whole) -> Any:
    total = 0.0
    for a in range(point.size):
        gap = np.float64(blocks.v[b, a, i] - point[a])
        total += blocks.ratio[a] * (gap * gap)
    if total <= 1 - 1e-13:
        return True
    if total >= 1 + 1e-13:
        return False
    whole = np.uint64(0)
    for a in range(point.size):
        step = np.uint64(abs(blocks.v[b, a, i] - point[a]))
        whole += blocks.factor[a] * step * step
    return np.int64(blocks.limit - whole) >= 0


@kernel(error_model="numpy")
def _place(blocks: Blocks, point: Whole, mid: Floats, half: Floats) -> None:
    for a in range(point.size):
        mid[a] = (point[a] - blocks.centre[a]) * blocks.scale[a]
        half[a] = 0


@kernel(error_model="numpy")
def near(blocks: Blocks, point: Whole, mid: Floats, half: Floats, room: Floats) -> int:
    """How many rows are near `point`, exactly."""
    _place(blocks, point, mid, half)
    count = 0
    lower = np.float32(1) - blocks.margin
    upper = np.float32(1) + blocks.margin
    reach = _reach(blocks, mid, half, FARTHEST)
    for b in range(blocks.fill.size):
        if reach[1, b] <= lower:
            count += blocks.fill[b]
        elif reach[0, b] <= upper:
            _measure(blocks.x, blocks.unit, blocks.base, blocks.fixed, b, mid, half, FARTHEST, room)
            for i in range(blocks.fill[b]):
                if room[i] <= lower or (room[i] <= upper and _exactly_near(blocks, b, i, point)):
                    count += 1
    return count


@kernel(error_model="numpy")
def normal(blocks: Blocks, point: Whole, mid: Floats, half: Floats, room: Floats) -> Any:
    """Whether `point` is not a (p, d)-outlier, exactly."""
    _place(blocks, point, mid, half)
    answer = face(blocks, mid, half, FARTHEST, room)
    if answer != UNSURE:
        return answer == YES
    return near(blocks, point, mid, half, room) > blocks.enough


@kernel(error_model="numpy")
def normal_many(blocks: Blocks, points: Whole, out: Flags) -> None:
    mid = np.empty(points.shape[1], np.float32)
    half = np.empty(points.shape[1], np.float32)
    room = np.empty(WIDTH, np.float32)
    for i in range(points.shape[0]):
        out[i] = normal(blocks, points[i], mid, half, room)


@kernel(error_model="numpy", fastmath={"reassoc"})
def _within(blocks: Blocks, b: int, room: Floats, spot: Floats) -> int:
    """About how many rows of a block are near with this sensitive value, `room` holding their squared distance without it."""
    count = np.float32(0)
    quasi = blocks.low.shape[0] - spot.size
    if spot.size == 1:
        row = blocks.x[b, quasi]
        m = spot[0] - blocks.base[b, quasi]
        u = blocks.unit[quasi]
        for i in range(blocks.fill[b]):
            t = np.float32(row[i]) * u - m
            count += np.float32(1) if room[i] + t * t <= 1 else np.float32(0)
        return int(count)
    for i in range(blocks.fill[b]):
        s = room[i]
        for a in range(spot.size):
            t = np.float32(blocks.x[b, quasi + a, i]) * blocks.unit[quasi + a] + blocks.base[b, quasi + a] - spot[a]
            s += t * t
        count += np.float32(1) if s <= 1 else np.float32(0)
    return int(count)


@kernel(error_model="numpy")
def _face_of(blocks: Blocks, low: Whole, high: Whole, sides: NDArray[np.int8], mid: Floats, half: Floats) -> int:
    """Middle and half width of the face of a box; returns the widest free axis, −1 for a corner."""
    widest = -1
    for a in range(low.size):
        l = low[a]
        h = high[a]
        if sides[a] == LOW:
            h = l
        elif sides[a] == HIGH:
            l = h
        mid[a] = ((l + h) * 0.5 - blocks.centre[a]) * blocks.scale[a]
        half[a] = (h - l) * 0.5 * blocks.scale[a]
        if half[a] > 0 and (widest < 0 or half[a] > half[widest]):
            widest = a
    return widest


@kernel(error_model="numpy")
def _corner(low: Whole, high: Whole, sides: NDArray[np.int8], point: Whole) -> None:
    for a in range(low.size):
        point[a] = high[a] if sides[a] == HIGH else low[a]


@kernel(error_model="numpy")
def _favoured(guide: Blocks, mid: Floats, half: Floats, values: Whole, room: Floats) -> int:
    """The value with which most rows of the guide are near all of a face."""
    quasi = mid.size - values.shape[1]
    counts = np.zeros(values.shape[0], np.int64)
    spots = np.empty(values.shape, np.float32)
    for j in range(values.shape[0]):
        for a in range(values.shape[1]):
            spots[j, a] = (values[j, a] - guide.centre[quasi + a]) * guide.scale[quasi + a]
    reach = _reach(guide, mid[:quasi], half[:quasi], FARTHEST)
    for b in range(guide.fill.size):
        if reach[0, b] > 1:
            continue
        _measure(guide.x, guide.unit, guide.base, guide.fixed, b, mid[:quasi], half[:quasi], FARTHEST, room)
        for j in range(values.shape[0]):
            counts[j] += _within(guide, b, room, spots[j])
    return int(np.argmax(counts))


@kernel(error_model="numpy")
def leading(guide: Blocks, low: Whole, high: Whole, values: Whole) -> Any:
    """The value with which most rows of the guide are near all of the box."""
    mid = np.empty(low.size + values.shape[1], np.float32)
    half = np.empty(low.size + values.shape[1], np.float32)
    _face_of(guide, low, high, np.zeros(low.size, np.int8), mid, half)
    return _favoured(guide, mid, half, values, np.empty(WIDTH, np.float32))


@kernel(error_model="numpy")
def _some_normal(
    blocks: Blocks,
    guide: Blocks,
    point: Whole,
    values_: Whole,
    good: Flags,
    hasty: bool,
    mid: Floats,
    half: Floats,
    room: Floats,
) -> Any:
    """Whether the quasi-identifiers of `point` are normal with some value, which is marked in `good`.

    First with the value that the guide favours; the `hasty` leave it at that, and may say no where another value would do. Then
    one count with the whole range of values: when even that is too far, no value can be near enough.
    """
    quasi = point.size - values_.shape[1]
    _place(blocks, point, mid, half)
    if guide.rows > 0 or hasty:
        favoured = _favoured(guide if guide.rows > 0 else blocks, mid, half, values_, room)
        point[quasi:] = values_[favoured]
        if normal(blocks, point, mid, half, room):
            good[favoured] = True
            return True
        if hasty:
            return False
    for a in range(values_.shape[1]):
        low = values_[:, a].min()
        high = values_[:, a].max()
        mid[quasi + a] = ((low + high) * 0.5 - blocks.centre[quasi + a]) * blocks.scale[quasi + a]
        half[quasi + a] = (high - low) * 0.5 * blocks.scale[quasi + a]
    if face(blocks, mid, half, INSIDE, room) == NO:
        return False
    for j in range(values_.shape[0]):
        point[quasi:] = values_[j]
        if normal(blocks, point, mid, half, room):
            good[j] = True
            return True
    return False


@kernel(error_model="numpy")
def _together(
    blocks: Blocks, guide: Blocks, low: Whole, high: Whole, values: Whole, mid: Floats, half: Floats, room: Floats
) -> Any:
    """Whether one count shows that every point of a box is normal with every value; not tried where the guide thinks it vain."""
    quasi = low.size
    for a in range(quasi + values.shape[1]):
        l = low[a] if a < quasi else values[:, a - quasi].min()
        h = high[a] if a < quasi else values[:, a - quasi].max()
        mid[a] = ((l + h) * 0.5 - blocks.centre[a]) * blocks.scale[a]
        half[a] = (h - l) * 0.5 * blocks.scale[a]
    return _hoped(guide, mid, half, FARTHEST, room) and face(blocks, mid, half, FARTHEST, room) == YES


@kernel(error_model="numpy")
def corners(
    blocks: Blocks,
    guide: Blocks,
    low: Whole,
    high: Whole,
    values: Whole,
    good: Flags,
    faces: NDArray[np.int8],
    hasty: bool,
    patience: int,
) -> int:
    """Theorem 5.1 (3): YES when every corner of these faces of the box is normal with some value. Marks values seen to be
    normal in `good`. ALL when every corner of the box is normal with every value, UNSURE when `patience` faces were not enough.

    The guide, a sample, says which faces to split without asking the rows: their parts are asked, so that the answer is the same.
    A `hasty` no may be wrong, a yes never is.
    """
    quasi = low.size
    axes = quasi + values.shape[1]
    mid = np.empty(axes, np.float32)
    half = np.zeros(axes, np.float32)
    room = np.empty(WIDTH, np.float32)
    point = np.empty(axes, np.int64)
    if _together(blocks, guide, low, high, values, mid, half, room):
        good[:] = True
        return ALL
    stack = np.zeros((quasi + 2 + faces.shape[0], quasi), np.int8)
    depth = faces.shape[0]
    stack[:depth] = faces
    first = True
    while depth > 0:
        patience -= 1
        if patience < 0:
            return UNSURE
        depth -= 1
        sides = stack[depth].copy()
        for a in range(values.shape[1]):
            mid[quasi + a] = (values[0, a] - blocks.centre[quasi + a]) * blocks.scale[quasi + a]
            half[quasi + a] = 0
        widest = _face_of(blocks, low, high, sides, mid, half)
        if (widest < 0 or _hoped(guide, mid, half, FARTHEST, room)) and face(blocks, mid, half, FARTHEST, room) == YES:
            good[0] = True
            continue
        if widest < 0:
            _corner(low, high, sides, point)
            found = _some_normal(blocks, guide, point, values, good, hasty, mid, half, room)
            if not found:
                return NO
            continue
        if first:
            # The corner farthest from the rows is the most likely to fail, and one failure decides.
            first = False
            for a in range(quasi):
                point[a] = low[a] if abs(low[a] - blocks.centre[a]) > abs(high[a] - blocks.centre[a]) else high[a]
                if sides[a] != FREE:
                    point[a] = low[a] if sides[a] == LOW else high[a]
            if not _some_normal(blocks, guide, point, values, good, hasty, mid, half, room):
                return NO
            widest = _face_of(blocks, low, high, sides, mid, half)
        nearer = LOW if mid[widest] > 0 else HIGH  # x is centred on the rows: the end nearer to 0 is the easier one
        for side in (nearer, LOW + HIGH - nearer):
            stack[depth] = sides
            stack[depth, widest] = side
            depth += 1
    return YES


@kernel(error_model="numpy")
def some_corner(
    blocks: Blocks, guide: Blocks, low: Whole, high: Whole, values_: Whole, good: Flags, patience: int
) -> int:
    """Theorem 5.1 (2): complete `good`: which values are normal at some corner. NO when one is at none, UNSURE as above."""
    quasi = low.size
    axes = quasi + values_.shape[1]
    mid = np.empty(axes, np.float32)
    half = np.zeros(axes, np.float32)
    room = np.empty(WIDTH, np.float32)
    point = np.empty(axes, np.int64)
    answer = YES
    stack = np.zeros((quasi + 2, quasi), np.int8)
    for j in range(values_.shape[0]):
        if good[j]:
            continue
        stack[0] = FREE
        depth = 1
        while depth > 0 and not good[j]:
            patience -= 1
            if patience < 0:
                return UNSURE
            depth -= 1
            sides = stack[depth].copy()
            for a in range(values_.shape[1]):
                mid[quasi + a] = (values_[j, a] - blocks.centre[quasi + a]) * blocks.scale[quasi + a]
                half[quasi + a] = 0
            widest = _face_of(blocks, low, high, sides, mid, half)
            if widest >= 0 and _hoped(guide, mid, half, ENDS, room) and face(blocks, mid, half, ENDS, room) == NO:
                continue
            if widest < 0:
                _corner(low, high, sides, point)
                point[quasi:] = values_[j]
                good[j] = normal(blocks, point, mid, half, room)
                continue
            nearer = LOW if mid[widest] > 0 else HIGH
            for side in (LOW + HIGH - nearer, nearer):
                stack[depth] = sides
                stack[depth, widest] = side
                depth += 1
        if not good[j]:
            answer = NO
    return answer


@kernel(error_model="numpy")
def _split(
    points: Whole, order: Whole, start: int, stop: int, blocks: Blocks, first: int, mid: Floats, half: Floats
) -> tuple[int, float]:
    """Bounding box of points order[start:stop], whose columns are the axes from `first` on, as a face; returns its widest
    column (−1: all equal) and the middle of it.
    """
    widest = -1
    cut = 0.0
    for a in range(points.shape[1]):
        l = points[order[start], a]
        h = l
        for i in range(start + 1, stop):
            v = points[order[i], a]
            l = min(l, v)
            h = max(h, v)
        mid[first + a] = ((l + h) * 0.5 - blocks.centre[first + a]) * blocks.scale[first + a]
        half[first + a] = (h - l) * 0.5 * blocks.scale[first + a]
        if l < h and blocks.ratio[first + a] > 0 and (widest < 0 or half[first + a] > half[first + widest]):
            widest = a
            cut = (l + h) * 0.5
    return widest, cut


@kernel(error_model="numpy")
def _part(points: Whole, order: Whole, start: int, stop: int, axis: int, cut: float) -> int:
    i = start
    for j in range(start, stop):
        if points[order[j], axis] <= cut:
            order[i], order[j] = order[j], order[i]
            i += 1
    return i


@kernel(error_model="numpy")
def values_at(blocks: Blocks, guide: Blocks, spot: Whole, values: Whole, good: Flags) -> None:
    """Mark in `good` the sensitive values that are normal with these quasi-identifiers, whole ranges of them at once; a value of
    which the guide thinks little is passed over.
    """
    quasi = spot.size
    mid = np.empty(quasi + values.shape[1], np.float32)
    half = np.zeros(quasi + values.shape[1], np.float32)
    room = np.empty(WIDTH, np.float32)
    point = np.empty(quasi + values.shape[1], np.int64)
    point[:quasi] = spot
    order = np.flatnonzero(~good)
    stack = [(0, order.size)]
    while len(stack) > 0:
        start, stop = stack.pop()
        if stop <= start:
            continue
        point[quasi:] = values[order[start]]
        _place(blocks, point, mid, half)
        widest, cut = _split(values, order, start, stop, blocks, quasi, mid, half)
        hoped = _hoped(guide, mid, half, FARTHEST, room)
        if widest < 0:
            if hoped and normal(blocks, point, mid, half, room):
                for i in range(start, stop):
                    good[order[i]] = True
        elif hoped and face(blocks, mid, half, FARTHEST, room) == YES:
            for i in range(start, stop):
                good[order[i]] = True
        else:
            middle = _part(values, order, start, stop, widest, cut)
            stack.append((start, middle))
            stack.append((middle, stop))


@kernel(error_model="numpy")
def everyone(
    blocks: Blocks, guide: Blocks, people: Whole, values_: Whole, good: Flags, bad: Flags, first_only: bool, hasty: bool
) -> int:
    """Candidate plainness (b): YES when everyone is normal with some value, ALL when with every value. `bad` marks who is not
    (the first, or all). A `hasty` no may be wrong, a yes never is.
    """
    quasi = people.shape[1]
    mid = np.empty(quasi + values_.shape[1], np.float32)
    half = np.zeros(quasi + values_.shape[1], np.float32)
    room = np.empty(WIDTH, np.float32)
    point = np.empty(quasi + values_.shape[1], np.int64)
    order = np.arange(people.shape[0])
    low = np.empty(quasi, np.int64)
    high = np.empty(quasi, np.int64)
    for a in range(quasi if people.shape[0] else 0):
        low[a] = people[:, a].min()
        high[a] = people[:, a].max()
    if people.shape[0] and _together(blocks, guide, low, high, values_, mid, half, room):
        good[:] = True
        return ALL
    stack = [(0, people.shape[0])]
    answer = YES
    while len(stack) > 0:
        start, stop = stack.pop()
        if stop <= start:
            continue
        for a in range(values_.shape[1]):
            mid[quasi + a] = (values_[0, a] - blocks.centre[quasi + a]) * blocks.scale[quasi + a]
            half[quasi + a] = 0
        widest, cut = _split(people, order, start, stop, blocks, 0, mid, half)
        if (widest < 0 or _hoped(guide, mid, half, FARTHEST, room)) and face(blocks, mid, half, FARTHEST, room) == YES:
            good[0] = True
            continue
        if widest < 0:
            point[:quasi] = people[order[start]]
            found = _some_normal(blocks, guide, point, values_, good, hasty, mid, half, room)
            if not found:
                answer = NO
                for i in range(start, stop):
                    bad[order[i]] = True
                if first_only:
                    return NO
            continue
        middle = _part(people, order, start, stop, widest, cut)
        stack.append((start, middle))
        stack.append((middle, stop))
    return answer


@kernel(error_model="numpy")
def someone(blocks: Blocks, guide: Blocks, people: Whole, values_: Whole, good: Flags) -> int:
    """Candidate plainness (a): complete `good`: which values are normal for someone."""
    quasi = people.shape[1]
    mid = np.empty(quasi + values_.shape[1], np.float32)
    half = np.zeros(quasi + values_.shape[1], np.float32)
    room = np.empty(WIDTH, np.float32)
    point = np.empty(quasi + values_.shape[1], np.int64)
    order = np.arange(people.shape[0])
    if good.all():
        return YES
    if people.shape[0] == 0:
        return NO
    best = 0
    least = np.inf
    for i in range(people.shape[0]):
        gap = 0.0
        for a in range(quasi):
            t = (people[i, a] - blocks.centre[a]) * blocks.scale[a]
            gap += t * t
        if gap < least:
            least = gap
            best = i
    values_at(blocks, guide, people[best], values_, good)
    answer = YES
    for j in range(values_.shape[0]):
        if good[j]:
            continue
        stack = [(0, people.shape[0])]
        while len(stack) > 0 and not good[j]:
            start, stop = stack.pop()
            if stop <= start:
                continue
            for a in range(values_.shape[1]):
                mid[quasi + a] = (values_[j, a] - blocks.centre[quasi + a]) * blocks.scale[quasi + a]
                half[quasi + a] = 0
            widest, cut = _split(people, order, start, stop, blocks, 0, mid, half)
            if widest >= 0 and _hoped(guide, mid, half, INSIDE, room) and face(blocks, mid, half, INSIDE, room) == NO:
                continue
            if widest < 0:
                point[:quasi] = people[order[start]]
                point[quasi:] = values_[j]
                good[j] = normal(blocks, point, mid, half, room)
                continue
            middle = _part(people, order, start, stop, widest, cut)
            stack.append((start, middle))
            stack.append((middle, stop))
        if not good[j]:
            answer = NO
    return answer


@kernel(error_model="numpy")
def matching(blocks: Blocks, low: Whole, high: Whole, out: Whole) -> int:
    """Slots (block·WIDTH + place) of the rows inside the box; returns how many."""
    found = 0
    for b in range(blocks.fill.size):
        apart = False
        for a in range(low.size):
            if blocks.low_place[b, a] > high[a] or blocks.high_place[b, a] < low[a]:
                apart = True
                break
        if apart:
            continue
        for i in range(blocks.fill[b]):
            inside = True
            for a in range(low.size):
                if blocks.v[b, a, i] < low[a] or blocks.v[b, a, i] > high[a]:
                    inside = False
                    break
            if inside:
                out[found] = b * WIDTH + i
                found += 1
    return found


class Trees(NamedTuple):
    """The taxonomies of all quasi-identifiers in one row of nodes; offset −1: every interval is publishable."""

    offset: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    parent: NDArray[np.int64]
    unit: NDArray[np.float64]
    """Loss of one place: 1 / (M − 1) for categories, 1 / (Max − Min + 1) for numbers."""
    numeric: NDArray[np.bool_]


@kernel(error_model="numpy")
def _loss(trees: Trees, a: int, low: int, high: int) -> Any:
    """Definition 3.7 of the smallest publishable interval over [low, high]."""
    if trees.offset[a] >= 0:
        base = trees.offset[a]
        node = base + low
        while trees.high[node] < high or trees.low[node] > low:
            node = base + trees.parent[node]
        low = trees.low[node]
        high = trees.high[node]
    return (high - low + trees.numeric[a]) * trees.unit[a]


@kernel(error_model="numpy")
def _outermost(blocks: Blocks, low: Whole, high: Whole, middle: Whole, mid: Floats, half: Floats, room: Floats) -> Any:
    quasi = low.size
    for a in range(quasi):
        end = high[a] if abs(high[a] - blocks.centre[a]) >= abs(low[a] - blocks.centre[a]) else low[a]
        mid[a] = (end - blocks.centre[a]) * blocks.scale[a]
        half[a] = 0
    for a in range(middle.size):
        mid[quasi + a] = (middle[a] - blocks.centre[quasi + a]) * blocks.scale[quasi + a]
        half[quasi + a] = 0
    return face(blocks, mid, half, FARTHEST, room)


@kernel(error_model="numpy")
def outermost(blocks: Blocks, low: Whole, high: Whole, value: Whole) -> Any:
    """YES, NO or UNSURE: whether the corner farthest from the rows' centre is normal with this sensitive value."""
    axes = low.size + value.size
    return _outermost(
        blocks, low, high, value, np.empty(axes, np.float32), np.empty(axes, np.float32), np.empty(WIDTH, np.float32)
    )


@kernel(error_model="numpy")
def expand(
    rows: Whole,
    codes: Whole,
    alive: Flags,
    seed: int,
    k: int,
    most: int,
    trees: Trees,
    sample: Blocks,
    middle: Whole,
    guarded: bool,
    members: Whole,
) -> int:
    """Grow a group from `seed`: again and again the free row with the least growth of information loss, rows that bring
    no new sensitive value 0.3 behind; ties go to the lower row. Stops at k distinct values in every sensitive column.

    `guarded` turns away rows that would make the outermost corner an outlier as far as the sample can tell.
    Returns how many `members` there are; 0 when k was not reached in `most` steps.
    """
    quasi = rows.shape[1]
    attributes = codes.shape[1]
    mid = np.empty(quasi + attributes, np.float32)
    half = np.empty(quasi + attributes, np.float32)
    room = np.empty(WIDTH, np.float32)
    low = rows[seed].copy()
    high = rows[seed].copy()
    loss = np.empty(quasi)
    for a in range(quasi):
        loss[a] = _loss(trees, a, low[a], high[a])
    free = alive.copy()
    free[seed] = False
    members[0] = seed
    count = 1
    refused = 0
    seen = np.zeros((attributes, codes.max() + 1), np.bool_)
    distinct = np.zeros(attributes, np.int64)
    for a in range(attributes):
        seen[a, codes[seed, a]] = True
        distinct[a] = 1
    new_low = low.copy()
    new_high = high.copy()
    while distinct.min() < k:
        best = -1
        least = np.inf
        for i in range(rows.shape[0]):
            if not free[i]:
                continue
            cost = 0.3
            for a in range(attributes):
                if distinct[a] < k and not seen[a, codes[i, a]]:
                    cost = 0.0
            for a in range(quasi):
                v = rows[i, a]
                if v >= low[a] and v <= high[a]:
                    continue
                if trees.offset[a] < 0:
                    cost += (low[a] - v if v < low[a] else v - high[a]) * trees.unit[a]
                else:
                    cost += _loss(trees, a, min(v, low[a]), max(v, high[a])) - loss[a]
                if cost >= least:
                    break
            if cost < least:
                least = cost
                best = i
        if best < 0 or count >= most or refused >= 2 * k:
            return 0
        free[best] = False
        changed = False
        for a in range(quasi):
            new_low[a] = min(low[a], rows[best, a])
            new_high[a] = max(high[a], rows[best, a])
            changed |= new_low[a] != low[a] or new_high[a] != high[a]
        if guarded and changed and _outermost(sample, new_low, new_high, middle, mid, half, room) != YES:
            refused += 1
            continue
        for a in range(quasi):
            low[a] = new_low[a]
            high[a] = new_high[a]
            loss[a] = _loss(trees, a, low[a], high[a])
        for a in range(attributes):
            if not seen[a, codes[best, a]]:
                seen[a, codes[best, a]] = True
                distinct[a] += 1
        members[count] = best
        count += 1
    return count


class Offers(NamedTuple):
    """Groups that left-over rows are offered to, with bounds over every BUNCH of them so that most are never looked at."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    sizes: NDArray[np.int64]
    losses: NDArray[np.float64]
    totals: NDArray[np.float64]
    """Information loss of each group, by column and in all. Groups only grow, so that bounds from below stay bounds."""
    bunch_low: NDArray[np.int64]
    bunch_high: NDArray[np.int64]
    bunch_size: NDArray[np.int64]
    bunch_total: NDArray[np.float64]


@kernel(error_model="numpy")
def bounded(offers: Offers, bunch: int) -> None:
    """Bring the bounds of one bunch up to date."""
    first = bunch * BUNCH
    last = min(first + BUNCH, offers.sizes.size)
    for a in range(offers.low.shape[1]):
        offers.bunch_low[bunch, a] = offers.low[first:last, a].min()
        offers.bunch_high[bunch, a] = offers.high[first:last, a].max()
    offers.bunch_size[bunch] = offers.sizes[first:last].min()
    offers.bunch_total[bunch] = offers.totals[first:last].min()


@kernel(error_model="numpy")
def _offer(offers: Offers, g: int, row: Whole, trees: Trees, best: Whole, cost: Doubles) -> None:
    """Put group g in its place among the cheapest; of two that cost the same, the earlier group is the cheaper."""
    more = 0.0
    for a in range(row.size):
        v = row[a]
        if v >= offers.low[g, a] and v <= offers.high[g, a]:
            continue
        if trees.offset[a] < 0:
            more += (offers.low[g, a] - v if v < offers.low[g, a] else v - offers.high[g, a]) * trees.unit[a]
        else:
            wide = _loss(trees, a, min(v, offers.low[g, a]), max(v, offers.high[g, a]))
            more += wide - offers.losses[g, a]
        if offers.totals[g] + more * (offers.sizes[g] + 1) > cost[-1]:
            return
    growth = offers.totals[g] + more * (offers.sizes[g] + 1)
    j = best.size - 1
    if growth > cost[j] or (growth == cost[j] and g > best[j]):
        return
    while j > 0 and (growth < cost[j - 1] or (growth == cost[j - 1] and g < best[j - 1])):
        cost[j] = cost[j - 1]
        best[j] = best[j - 1]
        j -= 1
    cost[j] = growth
    best[j] = g


@kernel(error_model="numpy")
def cheapest(row: Whole, offers: Offers, trees: Trees, best: Whole, cost: Doubles) -> None:
    """The groups whose information loss grows least when `row` joins, in `best`; `cost` holds their growth."""
    cost[:] = np.inf
    best[:] = -1
    least = np.empty(offers.bunch_size.size)
    for bunch in range(least.size):
        more = 0.0
        for a in range(row.size):
            if trees.offset[a] < 0:  # a step outside may cost nothing more in a taxonomy
                below = offers.bunch_low[bunch, a] - row[a]
                above = row[a] - offers.bunch_high[bunch, a]
                more += max(below, above, 0) * trees.unit[a]
        # A hair less: the sums of single groups round otherwise than this one.
        least[bunch] = (offers.bunch_total[bunch] + more * (offers.bunch_size[bunch] + 1)) * (1 - 1e-9)
    nearest = int(np.argmin(least))
    for turn in range(-1, least.size):
        bunch = nearest if turn < 0 else turn
        if turn == nearest or least[bunch] > cost[-1]:
            continue
        for g in range(bunch * BUNCH, min(bunch * BUNCH + BUNCH, offers.sizes.size)):
            _offer(offers, g, row, trees, best, cost)


@kernel(error_model="numpy")
def losses_of(low: Whole, high: Whole, trees: Trees, out: Doubles) -> None:
    for g in range(low.shape[0]):
        for a in range(low.shape[1]):
            out[g, a] = _loss(trees, a, low[g, a], high[g, a])


@kernel(error_model="numpy")
def unhidable(blocks: Blocks, rows: Whole, least: Whole, most: Whole, out: Flags) -> None:
    """Rows that are provably in no strictly plain group: some corner outward of them is an outlier with every value.

    In any box around t one corner lies outward of t in directions σ, so that a row t' is at least Σ max(0, σ(t − t'))² away from
    it: the distance from t' to the box between t and the end of the table in those directions. Tried: outward from the
    centre in every column, and that with one column turned round; so this finds some of them, never a wrong one.
    """
    quasi = rows.shape[1]
    axes = blocks.centre.size
    mid = np.empty(axes, np.float32)
    half = np.empty(axes, np.float32)
    room = np.empty(WIDTH, np.float32)
    for i in range(rows.shape[0]):
        for turned in range(-1, quasi):
            for a in range(axes):
                low = least[a]
                high = most[a]
                if a < quasi:
                    up = rows[i, a] >= blocks.centre[a]
                    if a == turned:
                        up = not up
                    if up:
                        low = rows[i, a]
                    else:
                        high = rows[i, a]
                mid[a] = ((low + high) * 0.5 - blocks.centre[a]) * blocks.scale[a]
                half[a] = (high - low) * 0.5 * blocks.scale[a]
            if face(blocks, mid, half, INSIDE, room) == NO:
                out[i] = True
                break
