"""The kernels with bugs in them, any of which can be switched on: one compilation for all of them."""

from __future__ import annotations

import ctypes

from tests.explain.host_runner import SOURCE, HostRunner

PLANTED = {
    "slice: one level too many": ("((u64)1 << level) - 1", "((u64)2 << level) - 1"),
    "kind: the last cells are left out": ("cell < given.kind_starts[kind + 1]", "cell + 1 < given.kind_starts[kind + 1]"),
    "grubbs: not below the least": ("size < 3 || size < least", "size < 3 || size <= least"),
    "grubbs: critical value of the next size": ("critical(fine, coarse, size)", "critical(fine, coarse, size + 1)"),
    "whole numbers: a carry is lost": ("(second < middle)", "(second < 0)"),
    "whole numbers: squares without their upper limbs": ("low >> (64 - bits)", "low >> 63 >> 63"),
    "whole numbers: equal counts as above": ("left[0] > right[0]", "left[0] >= right[0]"),
    "grubbs: one side of the furthest": ("larger(down < 0 ? -down : down, up < 0 ? -up : up)", "(up < 0 ? -up : up)"),
    "histogram: a root rounded down": ("bins * bins < size", "(bins + 1) * (bins + 1) <= size"),
    "histogram: the bar is open below": ("list_gaps[entry] <= furthest", "list_gaps[entry] < furthest"),
    "histogram: the share is rounded down": ("numerator * size + denominator - 1", "numerator * size"),
    "histogram: a chunk ends the count": ("rows < most && entry == listed", "rows < most && entry < 0"),
    "lof: a kind loses its last value": ("known->seen[kind[L]] + count_bits(heads & same[L] & below(L)) < most", "known->seen[kind[L]] + count_bits(heads & same[L] & below(L)) < most / 2"),
    "lof: cells of a kind are not added up": ("(Z)(tag[L] - kind[L])", "(Z)0"),
    "lof: the walk ends early": ("int end = reached + k", "int end = reached + 1"),
    "lof: the walk over values ends early": ("from(ahead, lowest_bit(beyond)) + k", "from(ahead, lowest_bit(beyond)) + (Z)1"),
    "lof: ties are cut at the end of a walk": ("z[step * end] == z[step * (reached + k - 1)]", "false"),
    "lof: a search is one step short": ("step = half", "step = half / 2"),
    "lof: neighbours' neighbours to the left are forgotten": ("(int)(room.ends[begin] & 0xffff) < middle_begin", "false"),
    "lof: neighbours' neighbours to the right are forgotten": ("(int)(room.ends[end] >> 16) >= middle_end", "false"),
    "lof: ties left of a row are left out": ("first > 0 && here - z[first - 1] <= reach", "first > 0 && here - z[first - 1] < reach"),
    "lof: ties right of a row are left out": ("last + 1 < n && z[last + 1] - here <= reach", "last + 1 < n && z[last + 1] - here < reach"),
    "lof: only the left end counts": ("z[p - s] + z[p + k - s + 1] >= twice", "true"),
    "lof: itself is its neighbour": ("Z sum = -room.reach[o]", "Z sum = 0 * room.reach[o]"),
    "lof: distance alone, not reach": ("larger(here - room.z[q], larger(room.z[q] - here, room.reach[q]))", "larger(here - room.z[q], room.z[q] - here)"),
    "lof: its own copies are forgotten": ("copies -= 1;", "copies = 0;"),
    "lof: at least instead of more": ("total / (double)others / own > limit", "total / (double)others / own >= limit"),
}  # fmt: skip
"""What a line says, and what it would say wrongly."""
OTHER_WAYS = {
    "grubbs: whole numbers decide everything": ("CLOSE 1e-9", "CLOSE 1e300"),
}
"""Other ways to the same flags: each is run on every table too."""


def source() -> str:
    """The kernels with a switch at every place above."""
    text = SOURCE.read_text(encoding="utf-8")
    text = text.replace(
        "typedef long long i64;", 'extern "C" { int bug = 0, doubles = 0, values = 0; }\ntypedef long long i64;', 1
    )
    text = text.replace("#define BAND 1e-4f", "#define BAND (doubles ? 1e30f : 1e-4f)", 1)
    text = text.replace("by_rows && mine <= copies", "by_rows && !values && mine <= copies", 1)
    for number, (right, wrong) in enumerate([*PLANTED.values(), *OTHER_WAYS.values()], start=1):
        begin, right_part, wrong_part = "", right, wrong
        for before in ("CLOSE ", "Z sum = ", "int end = ", "step = "):
            if right.startswith(before):
                begin, right_part, wrong_part = before, right.removeprefix(before), wrong.removeprefix(before)
        switched = f"{begin}(bug == {number} ? ({wrong_part}) : ({right_part}))"
        if right.endswith(";"):
            switched = f"if (bug == {number}) {wrong} else {right}"
        if right not in text:
            raise ValueError(right)
        text = text.replace(right, switched)
    return f'{text}\nextern "C" int stands_out_here(i64 total, const i64 *limbs, i64 bits, i64 kappa) {{ return stands_out(total, limbs, bits, kappa); }}\n'


class Switched(HostRunner):
    """A runner of these kernels with one of them switched on."""

    def switch(self, name: str | None, *, doubles: bool = False, values: bool = False) -> None:
        """`doubles`: LOF is decided in doubles everywhere, as it is where floats come too close. `values`: by distinct values everywhere, as with many ties."""
        known = [*PLANTED, *OTHER_WAYS]
        ctypes.c_int.in_dll(self._library, "doubles").value = int(doubles)
        ctypes.c_int.in_dll(self._library, "values").value = int(values)
        ctypes.c_int.in_dll(self._library, "bug").value = 0 if name is None else known.index(name) + 1

    def stands_out(self, total: int, squares: int, bits: int, kappa: int) -> bool:
        """One comparison of Grubbs' test."""
        limbs = (ctypes.c_longlong * 3)(*(squares >> (limb * bits) & ((1 << bits) - 1) for limb in range(3)))
        passed = ctypes.c_longlong(total), limbs, ctypes.c_longlong(bits), ctypes.c_longlong(kappa)
        return bool(self._library.stands_out_here(*passed))
