"""What a question of `explain` promises and costs, in words."""

from __future__ import annotations

from collections.abc import Mapping

from wallflower.explain import constrained, full
from wallflower.explain.selection import name
from wallflower.privacy.price import Price
from wallflower.schema.exact import shown

VALID = (
    "A released context is valid: the answer shows that the record stands out there. No answer (exit 5) shows that the "
    "record is unknown, or that no valid context was found."
)
MAYBE = "The released context may be one in which the record does not stand out: that is what the promise costs."


def price_constrained(plan: constrained.Plan, public: Mapping[str, str], contexts_log2: int, *, moves: bool) -> Price:
    """`moves`: without a key a row is named by its place, which every row before it moves."""
    settings = {**public, "search": plan.search}
    expected = {}
    if plan.search == "exact":
        short = plan.shortfall(contexts_log2)
        expected["shortfall"] = f"utility at most {short} below that of the best valid context, 19 times out of 20"
    else:
        settings["samples"] = str(plan.samples)
    other = "comes after" if moves else "is not"
    holds_when = (
        f"the row that changes {other} the one with key '{public['record']}' and its change leaves the set of contexts "
        f"(over {public['by']}, written {public['languages']}, of at least {public['least population']} rows) in which '{public['record']}' stands out "
        f"on {public['metric']} by {public['detector']} as it is"
    )
    return Price(
        guarantee=plan.guarantee(holds_when=holds_when),
        mechanism={"name": name(plan.selection), "exponent": shown(plan.selection.exponent)},
        settings=settings,
        expected=expected,
        notes=(VALID,),
    )


def price_full(plan: full.Plan, public: Mapping[str, str]) -> Price:
    mechanism = {"name": name(plan.selection), "exponent": shown(plan.selection.exponent)}
    note = MAYBE
    if plan.certificate is not None:
        mechanism |= {
            "certificate": "discrete-laplace",
            "scale": shown(plan.certificate.noise.scale),
            "threshold": str(plan.certificate.threshold),
        }
        note = (
            f"A context in which the record does not stand out is released with a probability of at most "
            f"{shown(plan.certificate.failure)}; values count as clipped to their declared bounds."
        )
    needs = (
        f"a context that stays valid while any {plan.needed} rows change: then one that is not valid is selected "
        "at most once in 20 times"
    )
    return Price(
        guarantee=plan.guarantee(),
        mechanism=mechanism,
        settings={**public, "search": "exact", "utility": "rows that must change before it is no longer valid"},
        expected={"needs": needs},
        notes=(note,),
    )
