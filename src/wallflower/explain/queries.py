"""In which context does this record stand out?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from wallflower.detectors.base import spelled
from wallflower.detectors.contexts import Fast
from wallflower.engines.base import Record, Rows
from wallflower.engines.plan import Plan
from wallflower.errors import DeclarationError, UsageError
from wallflower.explain import constrained, full, rehearsal, trial
from wallflower.explain.checks import (
    check_answers,
    check_certificate,
    check_columns,
    check_full,
    check_row,
    check_search,
    one_of,
)
from wallflower.explain.fields import Contexts, Detects, Start
from wallflower.explain.gpu.device_choice import DEVICES, Every, chosen, why_not
from wallflower.explain.gpu.engine import Runner
from wallflower.explain.inspection import seen
from wallflower.explain.landscape import Landscape
from wallflower.explain.languages import Vocabularies, vocabularies
from wallflower.explain.prices import price_constrained, price_full
from wallflower.explain.reading_plan import plan_contexts
from wallflower.explain.record_view import RecordView
from wallflower.explain.sentences import context_codes, text
from wallflower.explain.space import Space
from wallflower.explain.utilities import CustomUtility, Overlap, Population, Utility
from wallflower.explain.validity import decider
from wallflower.noise.entropy import Entropy
from wallflower.privacy.price import Price
from wallflower.privacy.trial import FieldTrial, Stage, multiples, wholes
from wallflower.schema.canonical import MEANS
from wallflower.schema.declaration import Declaration
from wallflower.schema.fields import Epsilon, MaybeEpsilon, MaybeWhole, Names, Text, Whole
from wallflower.schema.places import scheme_of
from wallflower.schema.problems import shortened

IN_MEMORY = 24
"""log2 of how many contexts are held at once; beyond, they are counted in one pass and found in a second."""
REACH, SLOW_REACH, MOST_REACH = 30, 12, 40
"""log2 of how many contexts `exact` looks at: by default with fast detectors and built-in utilities; with one's own; and if asked for."""
SAMPLES = 50
MOST_SUM = 2**60
"""Sums of a whole column of steps stay within a machine word."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """Ask for one context, among declared values of `by`, in which the record with key `record` stands out on `metric`.

    >>> from wallflower.detectors import LOF
    >>> Context(record="8", metric="salary", by=("job_title", "city"), detector=LOF(), epsilon="0.2").search is None
    True
    """

    name: ClassVar[str] = "explain"

    record: Text = Text()
    """Key of the asked-for record. It is not protected: that it stands out is what the answer says."""
    row: MaybeWhole = MaybeWhole(least=1)
    """Where up to m rows of a person count: which of them, in the order in which they are kept. None of them is protected."""
    metric: Text = Text()
    """The numeric column in which it stands out."""
    by: Names = Names()
    """Columns with declared values or bins; a context holds at least one value of each."""
    detector: Detects = Detects()
    """A detector, or its spelling: `lof(neighbours=20)`."""
    epsilon: Epsilon = Epsilon()
    """Budget, the certificate's part included."""
    guarantee: Literal["output-constrained", "full"] = "output-constrained"
    search: Literal["exact", "uniform", "walk", "dfs", "bfs"] | None = None
    """None: `exact` when the declared domain has at most 2^30 contexts around a record (2^26 with LOF, 2^12 with a detector or utility of one's own), else `bfs`."""
    samples: Whole = Whole(SAMPLES, least=1, most=10_000)
    """Contexts that a search other than `exact` collects; the paper's 50."""
    min_population: Whole = Whole(10, least=1)
    """A context with fewer rows is not valid. 10 is the least count many statistical offices publish."""
    utility: Literal["population", "overlap"] | Utility = "population"
    start: Start = Start()
    """A public context, `col=v|v;col=v`: what `overlap` compares with, and where walk, dfs and bfs begin."""
    contexts: Contexts = Contexts()
    """Languages of columns, `job=sets,age=range`; others by the public default (`explain.languages`)."""
    top: Whole = Whole(1, least=1, most=1000)
    """How many contexts to release; each is a selection of its own, and they share epsilon."""
    larger: MaybeWhole = MaybeWhole(least=1)
    """With `full`: prefer large contexts, one counting min(its rows, `larger` times the rows that must change before it is no longer valid)."""
    certificate_epsilon: MaybeEpsilon = MaybeEpsilon()
    """With `full`: the part of epsilon spent on checking that the selected context is valid, else no answer."""
    certificate_failure: MaybeEpsilon = MaybeEpsilon()
    """With `full`: the most probable an invalid context may get past that check."""
    device: Literal["auto", "cpu", "gpu"] = field(default="auto", metadata=MEANS, compare=False)
    """Where all contexts are decided; `auto`: on a GPU where there is one and it pays. The answer is the same, so this is no part of the question."""

    def __post_init__(self) -> None:
        check_columns(self.by, self.detector)
        one_of("device", self.device, DEVICES)
        one_of("guarantee", self.guarantee, ("output-constrained", "full"))
        check_search(self.search, self.utility, self.start)
        if self.guarantee == "full":
            check_full(self.detector, self.search, self.utility, self.start, self.min_population)
        check_answers(self.guarantee, self.search, self.certificate_epsilon, top=self.top, larger=self.larger)
        check_certificate(self.guarantee, self.epsilon, self.certificate_epsilon, self.certificate_failure)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.by, self.metric)))

    # Everything below up to `run` uses public things alone.

    def _vocabularies(self, declaration: Declaration) -> Vocabularies:
        bounds = declaration.column(self.metric).numeric
        if declaration.max_rows * (bounds.last - bounds.first) >= MOST_SUM:
            raise UsageError(
                f"{declaration.max_rows} rows of '{self.metric}' could add up to more than 2^60 steps.",
                hint=f"Declare a coarser step for [columns.{self.metric}], or a smaller max_rows.",
            )
        largest = getattr(self.detector, "largest", None)
        if largest is not None and largest(bounds.last - bounds.first, declaration.max_rows) >= MOST_SUM:
            raise UsageError(
                f"deciding {shortened(spelled(self.detector))} for {declaration.max_rows} rows of '{self.metric}' could need whole numbers above 2^60.",
                hint="Write the detector's setting with fewer digits, or declare a coarser step or a smaller max_rows.",
            )
        found = vocabularies(declaration, self.by, self.contexts)
        found.check()
        return found

    def _start_codes(self, languages: Vocabularies) -> tuple[tuple[int, ...], ...] | None:
        if self.start is None:
            return None
        return context_codes(self.start, self.by, tuple(one.domain for one in languages.each))

    @property
    def _reach(self) -> int:
        slow = not isinstance(self.detector, Fast) or not isinstance(self.utility, str)
        return SLOW_REACH if slow else min(REACH, getattr(self.detector, "practical_log2", REACH))

    def _search(self, contexts_log2: int) -> str:
        reach = self._reach
        if self.search is None and self.guarantee == "output-constrained" and self.top == 1:
            return "exact" if contexts_log2 <= reach else "bfs"
        if self.search == "exact" and reach > SLOW_REACH:
            reach = MOST_REACH
        if self.search in (None, "exact") and contexts_log2 > reach:
            raise UsageError(
                f"there are 2^{contexts_log2} contexts, and looking at all of them is limited to 2^{reach}.",
                hint="Write contexts in smaller languages (--contexts), name fewer columns in 'by', or choose another search.",
            )
        return self.search or "exact"

    def _constrained(self, declaration: Declaration) -> constrained.Plan:
        languages = self._vocabularies(declaration)
        own = None if isinstance(self.utility, str) else self.utility
        return constrained.Plan(
            search=self._search(languages.most_log2),
            samples=self.samples,
            epsilon=self.epsilon,
            sensitivity=1 if own is None else own.sensitivity,
            monotone=True if own is None else own.monotone,
            neighbours=declaration.neighbours,
            start=self._start_codes(languages),
            top=self.top,
            streamed=languages.most_log2 > IN_MEMORY,
            concentrated=declaration.is_concentrated("output-constrained-dp"),
            rows=declaration.rows_per_person,
        )

    def _full(self, declaration: Declaration) -> full.Plan:
        if _named_by_place(declaration):
            raise UsageError(
                "guarantee 'full' needs a key column: without one a record is named by its place, and any row before it, "
                "added or removed, would make the answer one about somebody else.",
                hint="Declare key = ... in [table], or ask for guarantee 'output-constrained'.",
            )
        size = self._vocabularies(declaration).most_log2
        self._search(size)
        certificate = None
        if self.certificate_epsilon is not None and self.certificate_failure is not None:
            certificate = full.Certificate(
                epsilon=self.certificate_epsilon,
                failure=self.certificate_failure,
                neighbours=declaration.neighbours,
                rows=declaration.rows_per_person or 1,
            )
        return full.Plan(
            detector=full.supported(self.detector, self.min_population),
            least=self.min_population,
            epsilon=self.epsilon - (certificate.epsilon if certificate else 0),
            neighbours=declaration.neighbours,
            contexts_log2=size,
            max_rows=declaration.max_rows,
            certificate=certificate,
            larger=self.larger,
            top=self.top,
            streamed=size > IN_MEMORY,
            concentrated=declaration.is_concentrated("dp"),
            rows=declaration.rows_per_person,
        )

    def _reading(self, declaration: Declaration) -> Plan:
        """How the rows are read; refuses what would not fit."""
        own = not isinstance(self.utility, str)
        return plan_contexts(declaration, self.by, self.metric, self.detector, own_utility=own)

    def price(self, declaration: Declaration) -> Price:
        if declaration.key is None and scheme_of(declaration.source) is not None:
            raise DeclarationError(
                "rows on a server have no order, so that a record is named by a key alone.",
                hint='Write key = "COLUMN" in [table].',
            )
        check_row(self.row, declaration)
        languages = self._vocabularies(declaration)
        public = {
            "record": self.record,
            **({} if declaration.rows_per_person is None else {"row": str(self._row)}),
            "metric": self.metric,
            "by": ", ".join(self.by),
            "detector": spelled(self.detector),
            "least population": str(self.min_population),
            "languages": languages.text,
            "contexts": f"at most {languages.most}",
            "plan": str(self._reading(declaration)),
        }
        if self.guarantee == "full":
            price = price_full(self._full(declaration), public)
            idle = "samples play no part under guarantee 'full', which looks at every context."
            return replace(price, notes=(*price.notes, idle)) if self.samples != SAMPLES else price
        utility = self.utility if isinstance(self.utility, str) else repr(self.utility)
        return price_constrained(
            self._constrained(declaration),
            {**public, "utility": utility},
            languages.most_log2,
            moves=_named_by_place(declaration),
            idle=self._idle,
            unit="person" if declaration.reduced else "row",
        )

    @property
    def _idle(self) -> list[str]:
        """Settings that were given and that only the other searches use."""
        samples = ["samples"] if self.samples != SAMPLES else []
        return samples + (["start"] if self.start is not None and self.utility != "overlap" else [])

    def _view(self, rows: Rows) -> tuple[RecordView, bool]:
        """The rows as the record sees them. An unknown record takes the same path with a made-up one, and gets no answer."""
        record = rows.record(self.record, row=self._row)
        if record is None:
            first = rows.declaration.column(self.metric).numeric.first
            stand_in = Record(numbers={self.metric: first}, codes=dict.fromkeys(self.by, 0))
        shown_record = record or stand_in
        view = RecordView(
            rows=rows,
            space=Space.of(
                self._vocabularies(rows.declaration).each, own=tuple(shown_record.codes[name] for name in self.by)
            ),
            metric=self.metric,
            centre=shown_record.numbers[self.metric],
            least=self.min_population,
        )
        return view, record is not None

    @property
    def _row(self) -> int:
        return self.row or 1

    def _landscape(self, view: RecordView) -> Landscape:
        scorer = self._scorer(view)
        return Landscape(view, decider(view, self.detector), scorer, self._every(view, scorer))

    def _runner(self, declaration: Declaration) -> Runner | None:
        """The GPU that decides every context, if any: from public things alone."""
        contexts_log2 = self._vocabularies(declaration).most_log2
        search = self.search or ("exact" if self.guarantee == "full" else self._search(contexts_log2))
        reason = why_not(self.detector, guarantee=self.guarantee, search=search, utility=self.utility)
        return chosen(self.device, self.detector, reason, contexts_log2)

    def _every(self, view: RecordView, scorer: Population | Overlap | CustomUtility) -> Every | None:
        try:
            runner = self._runner(view.rows.declaration)
        except UsageError:  # refused before the charge; whatever became of the GPU since, the processor answers
            return None
        if runner is None or isinstance(scorer, CustomUtility):
            return None
        return Every(runner, view, self.detector, scorer.cells)

    def _scorer(self, view: RecordView) -> Population | Overlap | CustomUtility:
        if not isinstance(self.utility, str):
            return CustomUtility(view, self.utility)
        start = self._start_codes(self._vocabularies(view.rows.declaration))
        return Population() if self.utility == "population" or start is None else Overlap(view, start)

    def prepare(self, rows: Rows, entropy: Entropy) -> None:
        self._runner(rows.declaration)
        own = not isinstance(self.utility, str)
        small = replace(
            self,
            record=trial.RECORD,
            row=None,
            metric=trial.METRIC,
            by=trial.BY,
            min_population=1,
            utility="population" if own else self.utility,
            start=None if own or self.start is None else trial.START,
            contexts=None,
        )
        with trial.trial_rows(rows.declaration.neighbours) as few:
            small.run(few, entropy)

    def run(self, rows: Rows, entropy: Entropy) -> dict[str, Any] | None:
        view, known = self._view(rows)
        if self.guarantee == "full":
            found = self._full(rows.declaration).run(view, entropy)
        else:
            found = self._constrained(rows.declaration).run(self._landscape(view), entropy)
        if not found or not known:
            return None
        said = [{"context": view.space.named(index), "text": text(view.space, index)} for index in found]
        return said[0] if self.top == 1 else {"contexts": said}

    @staticmethod
    def told(answer: Mapping[str, Any]) -> str:
        return "; ".join(str(one["text"]) for one in answer.get("contexts", (answer,)))

    def trial(self) -> FieldTrial:
        """How it is rehearsed."""
        options: dict[str, Sequence[Any]] = {
            "epsilon": multiples(self.epsilon),
            "min_population": wholes(self.min_population),
        }
        return FieldTrial(
            query=self, measured=rehearsal.MEASURED, useful=rehearsal.USEFUL, on=self.staged, options=options
        )

    def staged(self, rows: Rows) -> Stage:
        view, known = self._view(rows)
        landscape = self._landscape(view)

        def draw(entropy: Entropy) -> Sequence[int]:
            if self.guarantee == "full":
                return self._full(rows.declaration).run(view, entropy)
            return self._constrained(rows.declaration).run(landscape, entropy)

        most = 2 ** min(self._reach, IN_MEMORY)
        return rehearsal.staged(view, landscape, draw, known=known, top=self.top, most=most)

    def inspect(self, rows: Rows) -> dict[str, Any]:
        view, known = self._view(rows)
        if not known:
            return {"facts": {"record": "not found, dropped, or not unique"}, "figures": {}}
        if view.space.count > 2 ** min(self._reach, IN_MEMORY):
            return {"facts": {"contexts": f"{view.space.count}, too many to look at all"}, "figures": {}}
        if self.guarantee == "full":
            robust = self._full(rows.declaration)
            return seen(view, self._landscape(view), robust.selection, robust=robust.scores(view))
        plan = self._constrained(rows.declaration)
        return seen(view, self._landscape(view), plan.selection if plan.search == "exact" else None)


def _named_by_place(declaration: Declaration) -> bool:
    """Whether adding or removing another row can change which record the asked-for key names."""
    return declaration.key is None and declaration.neighbours == "add-remove"
