"""Utilities of one's own: what they declare is about one added or removed row, and a replaced row is one of each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from tests.explain.tables import PlainRows, declaration
from wallflower.errors import UsageError
from wallflower.explain import Context
from wallflower.noise.entropy import SeededEntropy

SHAPE = (2, 3)


@dataclass(frozen=True)
class Always:
    def stands_out(self, values, value, /, *, step):
        return True


@dataclass(frozen=True)
class Balance:
    """Rows of the second value less those of the third, with the other sign in contexts that hold all of the first column."""

    sensitivity: int = 1
    monotone: bool = False

    def score(self, counts):
        if counts.shape[1] != SHAPE[1]:
            return 0
        more = int(counts[:, 1].sum() - counts[:, 2].sum())
        return more if counts.shape[0] == 1 else -more


@dataclass(frozen=True)
class Lowered:
    """Rows of the second column's other values less its own: a row moves all contexts up, or all down."""

    sensitivity: int = 1
    monotone: bool = True

    def score(self, counts):
        return int(counts[:, 1:].sum() - counts[:, 0].sum())


@dataclass(frozen=True)
class Huge:
    sensitivity: int = 2**62
    monotone: bool = True

    def score(self, counts):
        return int(counts.sum()) * 2**62


def ask(utility, **fields):
    given = {"by": ("c0", "c1"), "detector": Always(), "epsilon": 1, "min_population": 1} | fields
    return Context(record="asked", metric="y", utility=utility, **given)


def law(query, declared, table):
    """P(context): all of them are valid, and permute-and-flip selects one of them."""
    landscape = query._landscape(query._view(PlainRows(declared, table, 0))[0])
    assert len(landscape.every_valid) == landscape.count
    scores, exponent = landscape.every_score.tolist(), float(Fraction(query.price(declared).mechanism["exponent"]))
    heads = [math.exp(exponent * (score - max(scores))) for score in scores]
    found = []
    for own, head in enumerate(heads):
        came = [1.0]  # came[m]: m of the other coins came up
        for coin in heads[:own] + heads[own + 1 :]:
            came = [no * (1 - coin) + yes * coin for no, yes in zip([*came, 0.0], [0.0, *came], strict=True)]
        found.append(head * math.fsum(chance / (1 + m) for m, chance in enumerate(came)))
    assert math.isclose(math.fsum(found), 1)
    return found


@pytest.mark.parametrize("utility", [Balance(), Lowered()], ids=["two ways", "one way"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_no_row_moves_an_answer_by_more_than_is_charged(utility, neighbours):
    declared, query = declaration(SHAPE, neighbours=neighbours), ask(utility)
    charged = float(query.price(declared).guarantee.epsilon)
    cells, worst = [(c0, c1, 0) for c0 in range(SHAPE[0]) for c1 in range(SHAPE[1])], 0.0
    for others in range(0, 12, 3):
        base = ((0, 0, 5), *[(1, 2, 0)] * others)
        near = {None: base} if neighbours == "add-remove" else {}
        laws = [law(query, declared, table) for table in (*near.values(), *((*base, cell) for cell in cells))]
        pairs = permutations(laws, 2) if not near else [(laws[0], other) for other in laws[1:]]
        worst = max(worst, *(abs(math.log(p / q)) for one, other in pairs for p, q in zip(one, other, strict=True)))
    assert 0.5 * charged < worst <= charged * (1 + 1e-9)


@pytest.mark.parametrize(
    ("utility", "neighbours", "exponent"),
    [
        (Lowered(), "add-remove", 1),
        (Lowered(), "replace-one", Fraction(1, 2)),
        (Balance(), "add-remove", Fraction(1, 2)),
        (Balance(), "replace-one", Fraction(1, 4)),
    ],
)
def test_the_exponent_is_what_the_declared_sensitivity_leaves(utility, neighbours, exponent):
    declared = declaration(SHAPE, neighbours=neighbours)
    assert Fraction(ask(utility).price(declared).mechanism["exponent"]) == exponent
    half = ask(utility, top=2).price(declared)
    assert Fraction(half.mechanism["exponent"]) == exponent / 2
    assert half.guarantee.rho == Fraction(1, 16)  # two selections of bounded range 1/2


class Called:
    """Its properties are methods, which a price would take for True, and for no number."""

    def sensitivity(self):
        return 1

    def monotone(self):
        return False

    def score(self, counts):
        return 0


class OneCalled(Called):
    sensitivity = 1


@pytest.mark.parametrize(
    "utility",
    [
        Called(),
        OneCalled(),
        *(Lowered(sensitivity=moves) for moves in (0, -1, "1", 1.5, math.nan, None, True, 2**63 + 1, 10**400)),
        *(Lowered(monotone=said) for said in ("False", 0, 1, None, np.bool_(True))),
    ],
    ids=lambda utility: f"{type(utility).__name__} {vars(utility)}"[:60],
)
def test_what_a_utility_declares_is_a_number_and_a_truth_or_the_question_is_refused(utility):
    with pytest.raises(UsageError, match=r"sensitivity \(a whole number from 1 to 2\^63\), monotone \(True or False\)"):
        ask(utility)
    assert ask(Lowered(sensitivity=2**63)).price(declaration(SHAPE)).expected["shortfall"]


@pytest.mark.parametrize("fields", [{}, {"top": 2}, {"search": "bfs", "samples": 3}], ids=str)
def test_no_score_however_large_ends_an_answer(fields):
    declared = declaration(SHAPE)
    for table in (((0, 0, 5),), ((0, 0, 5), (0, 1, 3), (1, 2, 7))):
        assert ask(Huge(), **fields).run(PlainRows(declared, table, 0), SeededEntropy(1)) is not None
