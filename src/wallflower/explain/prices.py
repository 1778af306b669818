"""What a question of `explain` promises and costs, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from wallflower.explain import constrained, full
from wallflower.explain.selection import Selection, name, shortfall
from wallflower.privacy.guarantee import worded
from wallflower.privacy.price import Price
from wallflower.schema.exact import shown

VALID = (
    "A released context is valid: the answer shows that the record stands out there. No answer (exit 5) shows that the "
    "record is unknown or not the only one with its key, or that no valid context was found."
)
TOGETHER = "These {top} contexts are {top} selections, one after the other, and each gets that part of epsilon."
LEFT = "{best} that is not released before it, for each of them"
CERTIFIED = (
    "A context in which the record does not stand out is released with a probability of at most {failure}; values count as "
    "clipped to their declared bounds."
)
MAYBE = "The released context may be one in which the record does not stand out: that is what the promise costs."


WHOLE_PERSON = (
    "A person is up to {rows} rows here: the promise hides all rows of any other person together, and none of the rows of the person "
    "who was asked for is protected."
)
UNKNOWN = (
    "none is known for this search. In the experiments with 50 samples and epsilon 0.2 its context had on average "
    "{mean} of the best one's rows (experiments/pcor_2021/RESULTS.md)"
)
MEANS = {"uniform": "0.82", "walk": "0.70", "dfs": "0.79", "bfs": "0.81"}
"""Mean utility over 200 outliers of the salary table, each search at its real cost."""


def price_constrained(
    plan: constrained.Plan,
    public: Mapping[str, str],
    contexts_log2: int,
    *,
    moves: bool,
    idle: Sequence[str],
    unit: str = "row",
) -> Price:
    """`unit`: what a row stands for; said here, beside names that may hold the word. `moves`: without a key a row is named by its place, which every row before it moves. `idle`: settings that were given."""
    settings, notes = {**public, "search": plan.search}, [VALID]
    if idle and plan.search == "exact":
        notes.append(f"{' and '.join(idle)} play no part in the exact search, which looks at every context.")
    if plan.search == "exact":
        best = "that of the best valid context" if plan.top == 1 else LEFT.format(best="that of the best valid context")
        expected = {"shortfall": f"utility at most {plan.shortfall(contexts_log2)} below {best}, 19 times out of 20"}
        notes += [TOGETHER.format(top=plan.top)] if plan.top > 1 else []
    else:
        settings["samples"] = str(plan.samples)
        expected = {"shortfall": UNKNOWN.format(mean=MEANS[plan.search])}
    other = "comes after" if moves else "is not"
    whose, record = f"{unit} that changes {other} the one with key", f"'{public['record']}'"
    if plan.rows is not None:
        whose, record = "person whose rows come or go is not", f"row {public['row']} of '{public['record']}'"
        notes.append(WHOLE_PERSON.format(rows=plan.rows))
    rows = worded("rows", unit)
    holds_when = (
        f"the {whose} '{public['record']}' and its change leaves the set of contexts "
        f"(over {public['by']}, written {public['languages']}, of at least {public['least population']} {rows}) in which "
        f"{record} stands out on {public['metric']} by {public['detector']} as it is"
    )
    promise = plan.guarantee(holds_when=holds_when)
    return Price(
        guarantee=promise if unit == "row" else replace(promise, unit=unit),
        mechanism=_mechanism(plan.selection, plan.top),
        settings=settings,
        expected=expected,
        notes=tuple(notes),
    )


def _mechanism(selection: Selection, top: int) -> dict[str, str]:
    said = {"name": name(selection), "exponent": shown(selection.exponent)}
    return said if top == 1 else {**said, "selections": str(top)}


def price_full(plan: full.Plan, public: Mapping[str, str]) -> Price:
    mechanism = _mechanism(plan.selection, plan.top)
    notes = [MAYBE]
    if plan.certificate is not None:
        mechanism |= {
            "certificate": "discrete-laplace",
            "scale": shown(plan.certificate.noise.scale),
            "threshold": str(plan.certificate.threshold),
        }
        failure = shown(plan.certificate.failure)
        notes = [CERTIFIED.format(failure=failure)]
    notes += [TOGETHER.format(top=plan.top)] if plan.top > 1 else []
    notes += [WHOLE_PERSON.format(rows=plan.rows)] if plan.rows is not None else []
    of_size, expected = "", {}
    utility = "rows that must change before it is no longer valid"
    if plan.larger is not None:
        utility = f"the lesser of its rows and {plan.larger} times the {utility}"
        short = shortfall(plan.selection, plan.contexts_log2)
        best = "the best" if plan.top == 1 else LEFT.format(best="that of the best")
        expected["shortfall"] = f"that utility at most {short} below {best}, 19 times out of 20"
        of_size = f" of at least {short} rows"  # a small context counts no more than its rows, however robust it is
    robust = f"a context{of_size} that stays valid"
    if plan.top > 1:
        robust = f"{plan.top} contexts{of_size} that stay valid, each"
    needs = (
        f"{robust} while any {plan.needed} rows change: then one that is not valid is selected at most once in 20 times"
    )
    expected = {"needs": needs if plan.top == 1 else f"{needs}, for each of them", **expected}
    return Price(
        guarantee=plan.guarantee(),
        mechanism=mechanism,
        settings={**public, "search": "exact", "utility": utility},
        expected=expected,
        notes=tuple(notes),
    )
