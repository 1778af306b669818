"""An account that counts ρ beside ε: the limit, the losses it adds up, and the best adaptive adversary against it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.errors import DeclarationError, UsageError
from wallflower.mechanisms.exponential import Exponential
from wallflower.mechanisms.top import TopH
from wallflower.privacy import concentrated as module
from wallflower.privacy.accountants import total
from wallflower.privacy.concentrated import PLACES, largest_rho, log_above, log_below, rho_by_order
from wallflower.privacy.guarantees import ApproxDP, PureDP
from wallflower.privacy.limits import Limit, limit_of
from wallflower.schema.declaration import Budget

HAIR = Fraction(1, 10**PLACES)


def delta_of(rho: Fraction, epsilon: Fraction, order: Fraction) -> mpmath.mpf:
    """The δ of Canonne, Kamath and Steinke (2020) at one order, to 60 digits."""
    with mpmath.workdps(60):
        r, e, a = (mpmath.mpf(x.numerator) / x.denominator for x in (rho, epsilon, order))
        return mpmath.exp((a - 1) * (a * r - e) + a * mpmath.log(1 - 1 / a) - mpmath.log(a - 1))


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("4", "1e-6"), ("1", "1e-6"), ("0.1", "1e-9"), ("10", "1e-3"), ("1/3", "1/7")]
)
def test_the_limit_is_the_largest_its_order_allows_rounded_down(epsilon, delta):
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    rho, order = largest_rho(epsilon, delta)
    with mpmath.workdps(60):
        allowed = mpmath.mpf(delta.numerator) / delta.denominator
    assert delta_of(rho, epsilon, order) <= allowed
    assert delta_of(rho + HAIR, epsilon, order) > allowed  # a limit rounded up would be noticed


@pytest.mark.parametrize("number", ["2", "3", "10", "7/3", "3/7", "1/2", "1000000007/998244353"])
def test_logarithms_are_rounded_to_the_safe_side_and_tight(number):
    number = Fraction(number)
    with mpmath.workdps(80):
        truth = mpmath.log(mpmath.mpf(number.numerator) / number.denominator)
        low, high = (mpmath.mpf(x.numerator) / x.denominator for x in (log_below(number), log_above(number)))
        assert low < truth < high
        assert high - low < mpmath.mpf(10) ** -36
    assert log_below(Fraction(1)) == log_above(Fraction(1)) == 0


def test_the_published_figure_and_no_better_order_nearby():
    rho, order = largest_rho(Fraction(4), Fraction(1, 10**6))
    assert (order, rho) == (Fraction(7006, 977), Fraction("0.31106495494"))
    for other in (order * Fraction(9, 10), order * Fraction(11, 10), Fraction(2), Fraction(50)):
        assert rho_by_order(Fraction(4), Fraction(1, 10**6), other) <= rho


def renyi(p, q, order):
    return math.log(math.fsum(a**order * b ** (1 - order) for a, b in zip(p, q, strict=True))) / (order - 1)


@settings(max_examples=60, deadline=None)
@given(
    scores=st.lists(st.integers(0, 12), min_size=2, max_size=6),
    moves=st.lists(st.integers(-1, 1), min_size=6, max_size=6),
    exponent=st.fractions(min_value="1/20", max_value=2, max_denominator=20),
)
def test_a_selection_is_worth_an_eighth(scores, moves, exponent):
    chosen = Exponential(exponent=exponent, monotone=False)
    rho = float(chosen.guarantee(distance=1, neighbours="add-remove").concentrated)
    moved = [score + move for score, move in zip(scores, moves, strict=False)]
    p, q = ([math.exp(x) for x in chosen.log_probabilities(each)] for each in (scores, moved))
    for order in (1.01, 1.5, 2, 4, 16):
        assert renyi(p, q, order) <= order * rho + 1e-9


def test_a_general_mechanism_at_an_eighth_would_be_noticed():
    """Randomised response loses nearly ε²/2: whoever booked ε²/8 for it would be caught."""
    for epsilon in (0.1, 0.5, 2.0):
        yes = math.exp(epsilon) / (1 + math.exp(epsilon))
        worst = max(renyi((yes, 1 - yes), (1 - yes, yes), order) / order for order in (1.001, 1.01, 1.1, 2, 8))
        assert epsilon**2 / 8 < worst <= epsilon**2 / 2
    assert PureDP(epsilon=Fraction(1), neighbours="add-remove").amounts["rho"] == Fraction(1, 2)
    assert ApproxDP(epsilon=Fraction(1), delta=Fraction("1e-9"), neighbours="add-remove").amounts["rho"] == Fraction(
        1, 2
    )
    with pytest.raises(DeclarationError, match="rho"):
        PureDP(epsilon=Fraction(1), rho=Fraction(2), neighbours="add-remove")


def test_sums_inside_a_query_add_rho_as_well():
    top = TopH(h=3, exponent=Fraction(1, 12)).guarantee(distance=1, neighbours="add-remove")
    assert top.concentrated == 3 * Fraction(1, 6) ** 2 / 8
    plain = PureDP(epsilon=Fraction(1, 2), neighbours="add-remove")
    both = total([top, plain])
    assert (both.epsilon, both.concentrated) == (Fraction(1), top.concentrated + Fraction(1, 8))
    assert total([plain, plain]).rho is None


class Game:
    """The best adaptive adversary against a filter, by backward induction: what it can add to e^ε·Q, exactly but for floats.

    It chooses among randomised responses of the losses in `menu`, looks at each answer, and goes on as long as the
    filter accepts. A state is how often each loss was used, and how often it spoke for P.
    """

    def __init__(self, menu, epsilon, accepts):
        self.menu, self.epsilon, self.accepts = menu, float(epsilon), accepts
        self.value = lru_cache(maxsize=None)(self._value)

    def _value(self, used, spoke):
        loss = sum(float(e) * (2 * s - u) for e, u, s in zip(self.menu, used, spoke, strict=True))
        best = max(0.0, math.exp(loss) - math.exp(self.epsilon))
        for i, each in enumerate(self.menu):
            if not self.accepts(used, i):
                continue
            more = tuple(u + (j == i) for j, u in enumerate(used))
            louder = tuple(s + (j == i) for j, s in enumerate(spoke))
            yes = 1 / (1 + math.exp(float(each)))  # under Q
            best = max(best, yes * self.value(more, louder) + (1 - yes) * self.value(more, spoke))
        return best

    def worst(self):
        nothing = (0,) * len(self.menu)
        return self.value(nothing, nothing)


EPSILON, DELTA = Fraction(3, 2), Fraction(1, 50)
MENU = (Fraction(1, 4), Fraction(3, 4))


def sums(used):
    spent = [PureDP(epsilon=each, neighbours="add-remove").amounts for each in MENU]
    return {
        name: sum((n * s[name] for n, s in zip(used, spent, strict=True)), Fraction(0)) for name in ("epsilon", "rho")
    }


def plus(used, i):
    return tuple(u + (j == i) for j, u in enumerate(used))


def test_the_best_adversary_stays_within_the_conversion():
    limit = limit_of(Budget(epsilon=EPSILON, delta=2 * DELTA, accounting="zcdp"))
    assert (limit.conversion, limit.amounts["delta"]) == (DELTA, DELTA)
    game = Game(MENU, EPSILON, lambda used, i: limit.refuses({**sums(plus(used, i)), "delta": Fraction(0)}) is None)
    worst = game.worst()
    assert 0 < worst <= float(DELTA)
    # Releases that fail with the whole of their own share of δ first: still within what was promised.
    assert float(limit.amounts["delta"]) + worst <= float(2 * DELTA)


def test_delta_spent_twice_would_be_noticed():
    """The whole of δ for a release and again for the conversion: the sum passes δ, so the split is needed."""
    rho, _ = largest_rho(EPSILON, DELTA)
    whole = Limit(amounts={"epsilon": EPSILON, "delta": DELTA}, rho=rho)
    game = Game(MENU, EPSILON, lambda used, i: whole.refuses({**sums(plus(used, i)), "delta": Fraction(0)}) is None)
    assert float(DELTA) + (1 - float(DELTA)) * game.worst() > float(DELTA)


def test_a_charge_that_is_tested_without_itself_would_be_noticed():
    limit = limit_of(Budget(epsilon=EPSILON, delta=2 * DELTA, accounting="zcdp"))
    late = Game(MENU, EPSILON, lambda used, _i: limit.refuses({**sums(used), "delta": Fraction(0)}) is None)
    assert late.worst() > float(2 * DELTA)


@pytest.mark.parametrize(
    ("epsilon", "plain", "concentrated", "selections"),
    [("0.01", 400, 5922, 23690), ("0.05", 80, 236, 947), ("0.1", 40, 59, 236), ("0.5", 8, 8, 9)],
)
def test_how_many_releases_fit(epsilon, plain, concentrated, selections):
    """The table of docs/reference/ledger.md."""
    each = Fraction(epsilon)

    def fit(limit, promise):
        spent = {name: Fraction(0) for name in promise.amounts}
        made = 0
        while True:
            spent = {name: spent[name] + more for name, more in promise.amounts.items()}
            if limit.refuses(spent) is not None:
                return made
            made += 1

    linear = limit_of(Budget(epsilon=Fraction(4), delta=Fraction("1e-6")))
    zcdp = limit_of(Budget(epsilon=Fraction(4), delta=Fraction("1e-6"), accounting="zcdp"))
    general = PureDP(epsilon=each, neighbours="add-remove")
    selection = PureDP(epsilon=each, rho=each**2 / 8, neighbours="add-remove")
    assert (fit(linear, general), fit(zcdp, general), fit(zcdp, selection)) == (plain, concentrated, selections)


def test_every_logarithm_of_a_limit_errs_to_the_safe_side(monkeypatch):
    """By a hair, which twelve places would hide nearly always."""
    monkeypatch.setattr(module, "PLACES", 60)
    for epsilon, delta, order in (
        ("4", "1e-6", "7006/977"),
        ("1/3", "1e-9", "31"),
        ("9", "1/7", "3/2"),
        ("1", "1e-5", "17/3"),
        ("4", "1e-300", "1001/1000"),
    ):
        said = module.rho_by_order(Fraction(epsilon), Fraction(delta), Fraction(order))
        with mpmath.workdps(90):
            e, d, a = (mpmath.mpf(each.numerator) / each.denominator for each in map(Fraction, (epsilon, delta, order)))
            exact = (e + (mpmath.log(d) + mpmath.log(a - 1) - a * mpmath.log(1 - 1 / a)) / (a - 1)) / a
            assert exact - mpmath.mpf(10) ** -32 < mpmath.mpf(said.numerator) / said.denominator < exact


def test_what_has_no_limit_by_rho_is_refused_or_allows_nothing():
    with pytest.raises(UsageError, match="epsilon above 0"):
        module.largest_rho(Fraction(0), Fraction(1, 10))
    with pytest.raises(UsageError, match="above 1"):
        module.rho_by_order(Fraction(1), Fraction(1, 10), Fraction(1))
    assert module.largest_rho(Fraction(1, 10**9), Fraction(1, 10**300))[0] >= 0


def test_a_fitting_rho_excuses_epsilon_and_nothing_else():
    most = Limit(amounts={"epsilon": Fraction(1), "delta": Fraction(1, 10**6)}, rho=Fraction(1, 2))
    assert most.refuses({"epsilon": Fraction(5), "rho": Fraction(1, 2)}) is None
    assert most.refuses({"epsilon": Fraction(5), "rho": Fraction(1, 2) + Fraction(1, 10**18)}) == "epsilon"
    assert most.refuses({"epsilon": Fraction(1), "rho": Fraction(9)}) is None
    assert most.refuses({"epsilon": Fraction(1), "delta": Fraction(1, 10**5), "rho": Fraction(1, 9)}) == "delta"
