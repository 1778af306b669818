"""Rows laid out in blocks, each a small box, so that most blocks are settled without looking at their rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wallflower.geometry.balls import Ball
from wallflower.geometry.face_kernels import WIDTH, Blocks

Whole = NDArray[np.int64]
_FEW = 256
"""Columns with more places than this are not parted by value."""
_COMMON = 2
"""A value with so many blocks' rows gets blocks of its own."""


def middle_of(places: Whole) -> NDArray[np.float64]:
    """The place, whole in every column, that coordinates are measured from."""
    return np.asarray(np.round(places.mean(axis=0)) if len(places) else np.zeros(places.shape[1]), dtype=np.float64)


def lay_out(
    places: Whole, ball: Ball, *, sizes: Sequence[int], centre: NDArray[np.float64], enough: int
) -> tuple[Blocks, Whole]:
    """The blocks, and which row each slot of them holds. A point with more than `enough` rows near it is normal."""
    rows, width = places.shape
    most = np.array(sizes)
    if rows and (places.min() < 0 or (places.max(axis=0) >= most).any()):
        raise ValueError("a place is outside its column")
    ratio = np.array([factor / ball.limit for factor in ball.weights])
    scale = np.sqrt(ratio)
    x = ((places - centre) * scale).astype(np.float32)
    parts = _parts(places, x, WIDTH)
    count = len(parts)
    fill = np.array([len(part) for part in parts], dtype=np.int64)
    inside = np.arange(WIDTH) < fill[:, None]
    slots = np.full((count, WIDTH), -1, dtype=np.int64)
    slots[inside] = np.concatenate(parts) if count else places[:0, 0]
    slots = np.where(inside, slots, slots[:, :1])  # filled up with a row of the same block, so that its corners stay
    whole = places[slots]
    low_place, high_place = whole.min(axis=1, initial=2**62), whole.max(axis=1, initial=-(2**62))
    low, high = (((corner - centre) * scale).astype(np.float32) for corner in (low_place, high_place))
    # plain.md derives it; this is nearly twice what it asks for.
    widest = float(((most + 1) * scale).max())
    reach = float(np.abs(x).max()) + widest if rows else 1.0
    margin = 2 * (24 * reach * np.sqrt(width) + 2 * width + 4) * 2.0**-24
    blocks = Blocks(
        x=np.ascontiguousarray((whole - low_place[:, None, :]).transpose(0, 2, 1), dtype=_narrowest(int(most.max()))),
        v=np.ascontiguousarray(whole.transpose(0, 2, 1)),
        low=np.ascontiguousarray(low.T),
        high=np.ascontiguousarray(high.T),
        base=low,
        fixed=low == high,
        low_place=low_place,
        high_place=high_place,
        fill=fill,
        centre=centre,
        scale=scale,
        unit=scale.astype(np.float32),
        ratio=ratio,
        factor=np.array([factor % 2**64 for factor in ball.weights], dtype=np.uint64),
        limit=np.uint64(ball.limit % 2**64),
        margin=np.float32(margin),
        rows=rows,
        enough=enough,
    )
    return blocks, slots.reshape(-1)


def _narrowest(places: int) -> type[np.uint8 | np.uint16 | np.float32]:
    return np.uint8 if places <= 2**8 else np.uint16 if places <= 2**16 else np.float32


def _parts(places: Whole, x: NDArray[np.float32], width: int) -> list[Whole]:
    """The rows of each block.

    As long as a fifth of a part or more shares one value of a column, it is parted by that column's common values, rare ones
    together: in a column in which a block has one value, its rows need no looking at. After that, by medians of the widest column.
    """
    codes = np.ascontiguousarray((places - places.min(axis=0, initial=2**62)).T)
    few = [a for a, code in enumerate(codes) if len(code) and code.max() < _FEW]
    done: list[Whole] = []
    work = [np.arange(len(places))] if len(places) else []
    while work:
        part = work.pop()
        if len(part) <= width:
            done.append(part)
            continue
        spread = x[part].std(axis=0)
        best, worth = -1, 0.0
        for a in few:
            counts = np.bincount(codes[a][part])
            most = int(counts.max())
            if len(part) > most >= max(len(part) // 5, _COMMON * width) and most * spread[a] > worth:
                best, worth = a, most * float(spread[a])
        if best >= 0:
            code = codes[best][part]
            counts = np.bincount(code)
            common = counts >= _COMMON * width
            rare = part[~common[code]]
            work += [part[code == value] for value in np.flatnonzero(common)[::-1]]
            work += [rare] if len(rare) else []
            continue
        blocks = -(-len(part) // width)
        middle = len(part) * (blocks // 2) // blocks
        cut = part[np.argpartition(x[part, int(np.argmax(spread))], middle)]
        work += [cut[middle:], cut[:middle]]
    return done
