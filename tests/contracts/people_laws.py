"""The exact law of what leaves, from raw tables of people through the engine: every area, every reducer, up to m rows a person.

A raw table is what each of three people holds: up to three rows of a universe of three. It is shuffled by an order of its own, read by the
engine, and the shipped question says with which probability each answer comes. Neighbours differ by all rows of one person.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations_with_replacement

import numpy as np
import pyarrow as pa

from tests.contracts.engine_sources import categories, declare, numbers
from wallflower.audit.exact import Finding, exact_audit
from wallflower.count import Outliers
from wallflower.count.queries import largest_answer, measure
from wallflower.detectors import Distance, Grubbs
from wallflower.engines import from_frame
from wallflower.explain import Context
from wallflower.explain.full import _Scores
from wallflower.identify import Anomalies
from wallflower.identify.counts import of_values
from wallflower.identify.questions import Questions
from wallflower.mechanisms.inverse_sensitivity import InverseSensitivity
from wallflower.schema.declaration import Clip, Declaration, Drop, Model
from wallflower.session.pricing import price_of

REDUCERS = ("sum", "mean", "min", "max", "rows", "most-common", "latest", "earliest")
WORDS = {"min": "min", "max": "max", "latest": "latest", "earliest": "earliest"}
"""How the categories of a table are reduced whose numbers are reduced so; most-common for the others."""
CELLS = (("0", "a", "2020-01-02"), ("2", "b", "2020-01-03"), ("3", "a", "2020-01-01"))
OWN = tuple(rows for size in range(4) for rows in combinations_with_replacement(CELLS, size))
IDS = ("a", "b", "c")
MOST = 6


def tables(most: int):
    """Every table of three people with at most `most` rows in all; who is who does not matter."""
    return [people for people in combinations_with_replacement(OWN, 3) if sum(map(len, people)) <= most]


def without_one(people):
    """The tables with one person less."""
    return {tuple(sorted((*people[:at], (), *people[at + 1 :]), key=OWN.index)) for at in range(3) if people[at]}


def asked_about(people):
    """The same table for each of its people as the one who is asked about, who comes first."""
    for at in {own: at for at, own in enumerate(people) if own}.values():
        yield (people[at], *people[:at], *people[at + 1 :])


def without_another(people):
    """The tables with one person less who is not the first."""
    first, *others = people
    return {(first, *sorted(((), others[1 - at]), key=OWN.index)) for at in range(2) if others[at]}


def raw_rows(people):
    """(id, number, category, time), in an order that every table has of its own."""
    rows = [(who, *row) for who, own in zip(IDS, people, strict=True) for row in own]
    random.Random(repr(rows)).shuffle(rows)
    return rows


@cache
def declared(reducer: str | None, rows: int | None) -> Declaration:
    """One row a person by `reducer`, or up to `rows`."""
    columns = (
        replace(numbers("x", lower="0", upper="5", step="1", outside=Clip(), missing=Drop()), per_person=reducer),
        replace(categories("c", values=("a", "b")), per_person=reducer and WORDS.get(reducer, "most-common")),
    )
    model = Model(name="default", columns=("x",), beta=1, radius=Fraction(1), k=1, epsilon=Fraction(9))
    changes = {"unit": "person", "person": "k", "time": "t", "rows_per_person": rows, "models": {"default": model}}
    return declare(*columns, key="k", max_rows=MOST, **changes)


def arrow(rows):
    columns = zip(*rows, strict=True) if rows else ([],) * 4
    return pa.table({name: pa.array(list(each), pa.string()) for name, each in zip("kxct", columns, strict=True)})


@cache
def engine(reducer: str | None, rows: int | None, people):
    """What a question sees of a raw table."""
    with from_frame(arrow(raw_rows(people)), declared(reducer, rows)).rows(("x", "c")) as view:
        return view


def count(noise: str) -> Outliers:
    return Outliers(columns=("x",), neighbours=1, radius=1, epsilon=2, noise=noise)


def explain(**changes) -> Context:
    asked = {"record": "a", "metric": "x", "by": ("c",), "detector": Distance(p="3/4", radius=1), "min_population": 1}
    return Context(**{**asked, "epsilon": 2, **changes})


QUESTIONS = {
    "count lomax": count("lomax"),
    "count inverse": count("inverse"),
    "count laplace": count("laplace"),
    "identify dp": Anomalies(values=({"x": "0"}, {"x": "3"}), epsilon=1, method="dp"),
    "identify sensitive": Anomalies(values=({"x": "0"}, {"x": "3"}), epsilon=1),
    "explain": explain(),
    "explain full": explain(guarantee="full"),
    "explain full grubbs": explain(guarantee="full", detector=Grubbs()),
    "explain certificate": explain(guarantee="full", certificate_epsilon=1, certificate_failure="0.01"),
}


@dataclass(frozen=True)
class Audit:
    """One question on one kind of table; `seen` may be a planted reader, `priced` a planted price."""

    name: str
    reducer: str | None = None
    """One row a person; None: up to `rows`."""
    rows: int | None = None
    seen: Callable | None = None
    """Raw rows to (id, number, category) of each row that a question would see; None: the engine."""
    priced: int | None = None
    """How many rows a person has, as the question believes, where that is the bug."""

    @property
    def declaration(self) -> Declaration:
        return declared(self.reducer, self.rows)

    @cached_property
    def question(self):
        asked = QUESTIONS[self.name]
        return replace(asked, row=1) if isinstance(asked, Context) and self.rows is not None else asked

    @property
    def charge(self) -> Fraction:
        return price_of(self.question, self.declaration).guarantee.epsilon

    @cached_property
    def _known(self) -> dict:
        return {}

    def view(self, people):
        if self.seen is None:
            return engine(self.reducer, self.rows, people)
        found = self.seen(raw_rows(people))
        cells = {
            "k": [who for who, _, _ in found],
            "x": [int(x) for _, x, _ in found],
            "c": pa.array([c for *_, c in found], pa.string()),
        }
        plain = {name: replace(column, per_person=None) for name, column in self.declaration.columns.items()}
        changes = {"unit": "row", "person": None, "time": None, "rows_per_person": None}
        with from_frame(pa.table(cells), replace(self.declaration, columns=plain, **changes)).rows(("x", "c")) as view:
            return view

    def law(self, people) -> dict:
        """P(answer), from the view alone; equal views have equal laws."""
        if people not in self._known:
            rows = self.view(people)
            fetched = rows.fetch(numbers=("x",), codes=("c",))
            asked = repr(rows.record("a", row=1)) if isinstance(self.question, Context) else ""
            same = (asked, *sorted(zip(fetched.numbers[:, 0].tolist(), fetched.codes[:, 0].tolist(), strict=True)))
            if same not in self._known:
                self._known[same] = self._law(rows)
            self._known[people] = self._known[same]
        return self._known[people]

    def _law(self, rows) -> dict:
        declaration = self.declaration if self.priced is None else declared(None, self.priced)
        if isinstance(self.question, Outliers):
            noise = self.question.noise_for(declaration)
            found, bounds = measure(rows, self.question.columns, self.question.radius, noise)
            return count_law(noise, found, bounds and noise.of_unit(bounds), largest_answer(rows))
        if isinstance(self.question, Anomalies):
            return identify_law(self.question, rows)
        return explain_law(self.question, rows, declaration)

    def pairs(self, universe):
        about = isinstance(self.question, Context)
        for table in universe:
            for people in asked_about(table) if about else (table,):
                for other in without_another(people) if about else without_one(people):
                    if self._promised(people, other):
                        yield people, other

    def _promised(self, people, other) -> bool:
        """Whether the promise speaks of this pair."""
        if self.name == "identify sensitive":
            return self._sensitive(people) and self._sensitive(other)
        if not isinstance(self.question, Context) or self.question.guarantee == "full":
            return True
        return self.law(people).keys() == self.law(other).keys()  # the same valid contexts

    def _sensitive(self, people) -> bool:
        """Every row is within k of being normal, so that whoever changes is protected."""
        values = self.view(people).fetch(numbers=("x",)).numbers[:, 0]
        model = self.declaration.models["default"]
        near = [(np.abs(values - value) <= model.radius).sum() for value in values]
        return all(each >= model.beta + 1 - model.k for each in near)

    def worst(self, universe) -> Finding:
        return exact_audit(self.law, self.pairs(universe))


def tail(noise, scale: Fraction, m: int) -> float:
    """P(noise ≥ m)."""
    if m <= 0:
        return 1 - tail(noise, scale, 1 - m)
    if noise == "laplace":
        fading = math.exp(-float(1 / scale))
        return fading**m / (1 + fading)
    return float((1 + (m - Fraction(1, 2)) / scale) ** -8 / 2)


def count_law(noise, found: int, bounds, most: int) -> dict:
    """The exact law of a noisy count, clamped to 0 … most."""
    if noise.name == "inverse":
        return dict(enumerate(InverseSensitivity(epsilon=noise.epsilon, most=most).probabilities(found, bounds)))
    scale = noise._laplace.scale if noise.name == "laplace" else noise._lomax.smooth(bounds) / noise._lomax.sigma
    inner = {y: tail(noise.name, scale, y - found) - tail(noise.name, scale, y + 1 - found) for y in range(1, most)}
    return {0: 1 - tail(noise.name, scale, 1 - found), **inner, most: tail(noise.name, scale, most - found)}


def identify_law(question: Anomalies, rows) -> dict:
    questions = Questions.read(question.values, question.model, rows.declaration)
    metric, answering = questions.metric, question._answering(questions.model, questions.metric)
    held, near = of_values(metric, metric.points(rows), questions.asked, cap=answering.cap)
    no, yes = answering.log_chances(np.asarray(held), np.asarray(near))
    return {
        (one, other): math.exp((yes if one else no)[0] + (yes if other else no)[1])
        for one in (False, True)
        for other in (False, True)
    }


def explain_law(question: Context, rows, declaration: Declaration) -> dict:
    view, known = question._view(rows)
    if not known:
        return {None: 1.0}
    if question.guarantee == "output-constrained":
        landscape, selection = question._landscape(view), question._constrained(declaration).selection
        valid = landscape.every_valid
        if not len(valid):
            return {None: 1.0}
        logs = selection.log_probabilities(landscape.every_score[valid].tolist())
        return {int(index): math.exp(log) for index, log in zip(valid, logs, strict=True)}
    plan = question._full(declaration)
    logs = plan.selection.log_probabilities(plan.scores(view).tolist())
    if plan.certificate is None:
        return {index: math.exp(log) for index, log in enumerate(logs)}
    flips = _Scores(plan, view).changes(view.few(np.arange(len(logs))))
    passes = [
        tail("laplace", plan.certificate.noise.scale, plan.certificate.threshold + 1 - int(each)) for each in flips
    ]
    law = {index: math.exp(log) * passed for index, (log, passed) in enumerate(zip(logs, passes, strict=True))}
    return {**law, None: math.fsum(math.exp(log) * (1 - p) for log, p in zip(logs, passes, strict=True))}


def groups_of_people(people, reducer: str) -> bool:
    """What a publication is made of: one row for each person who has any, so that k rows are k people."""
    return len(engine(reducer, None, people).fetch(numbers=("x",)).numbers) == sum(map(bool, people))


# Planted bugs: readers that look at more than a person's own rows. (id, number, category) of each row a question would see.


def own_rows(rows):
    found: dict = {}
    for who, x, c, t in rows:
        found.setdefault(who, []).append((t, int(x), c))
    return found


def mean_over_everybody(rows):
    """The sum of a person's numbers divided by the number of people."""
    people = own_rows(rows)
    return [(who, round(2 * sum(x for _, x, _ in own) / len(people)), own[0][2]) for who, own in people.items()]


def looks_at_others(rows):
    """A person's commonest number, ties and all else settled by what everybody holds."""
    held = Counter(x for _, x, _, _ in rows)
    best = max(held, key=lambda x: (held[x], x), default="0")
    return [(who, int(best), own[0][2]) for who, own in own_rows(rows).items()]


def first_in_the_file(most: int):
    def seen(rows):
        return [(who, x, c) for who, own in own_rows(rows).items() for _, x, c in own[:most]]

    return seen
