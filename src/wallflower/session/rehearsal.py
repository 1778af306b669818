"""Choosing without looking: the whole question on rows that stand in for the table's. No ledger, no charge, no row of the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from typing import Any

from wallflower.engines.stand_in import StandIn, stand_in
from wallflower.errors import UsageError, WallflowerError, nearest_name
from wallflower.noise.entropy import SeededEntropy
from wallflower.privacy.guarantee import Guarantee
from wallflower.privacy.trial import Stage, Trial
from wallflower.progress import report
from wallflower.schema.declaration import Declaration
from wallflower.schema.exact import shown as exactly
from wallflower.session.description import description
from wallflower.session.pricing import price_of
from wallflower.session.queries import Query
from wallflower.session.rehearsal_result import Line, Rehearsal, Sweep

DRAWS = 200
SWEEP_DRAWS = 40
MOST_DRAWS = 100_000
EXAMPLES = 3


def rehearse(
    declaration: Declaration,
    query: Query,
    rows: Any,
    *,
    source: object = None,
    draws: int = DRAWS,
    sweep_draws: int = SWEEP_DRAWS,
) -> Rehearsal:
    """The true answer on `rows`, `draws` private ones, and how they would fare at other choices (none with `sweep_draws` 0)."""
    trial, price = _trial(query), price_of(query, declaration)
    _check_draws(draws, sweep_draws)
    standing = stand_in(declaration, rows, source, records=_records(query), held=trial.held(declaration))
    with ExitStack() as opened:
        stage, size = _staged(opened, standing, query, declaration, trial)
        answers = _drawn(stage, trial, draws, label="rehearsal")
    scores = [stage.score(answer) for answer in answers]
    told = getattr(query, "told", None)
    choices = trial.choices(declaration) if sweep_draws else {}
    return Rehearsal(
        table=declaration.id,
        asked=description(query),
        rows=standing.what,
        size=size,
        owner_only=standing.owner_only,
        guarantee=price.guarantee.to_json(),
        measured=trial.measured,
        useful_means=trial.useful,
        truth=stage.truth,
        truth_told=_told(stage.truth, told, is_random=trial.is_random),
        number=stage.number,
        numbers=tuple(number for number, _ in scores),
        examples=tuple(answers[:EXAMPLES]),
        useful=sum(useful for _, useful in scores) / len(scores),
        sweep=tuple(_lines(declaration, query, standing, choices, sweep_draws)),
        notes=standing.notes,
    )


def sweep(
    declaration: Declaration,
    query: Query,
    rows: Any,
    values: Mapping[str, Sequence[Any]],
    *,
    source: object = None,
    draws: int = SWEEP_DRAWS,
) -> Sweep:
    """The same question at each of `values`, by name of the choice; each changed alone."""
    trial = _trial(query)
    _check_draws(draws, draws)
    price_of(query, declaration)
    known = trial.choices(declaration)
    for name in values:
        if name not in known:
            raise UsageError(f"'{name}' is not a choice of this question.", hint=nearest_name(name, known))
    standing = stand_in(declaration, rows, source, records=_records(query), held=trial.held(declaration))
    return Sweep(tuple(_lines(declaration, query, standing, values or known, draws)), standing.what, standing.notes)


def _trial(query: Query) -> Trial:
    made = getattr(query, "trial", None)
    if made is None:
        raise UsageError(
            f"a '{query.name}' of this kind cannot be rehearsed.", hint="Its --dry-run says what to expect."
        )
    trial: Trial = made()
    return trial


def _check_draws(*counts: int) -> None:
    if any(not 0 <= count <= MOST_DRAWS for count in counts) or counts[0] < 1:
        raise UsageError(f"a rehearsal draws from 1 to {MOST_DRAWS} answers.")


def _records(query: Query) -> tuple[str, ...]:
    """The keys that a question asks about, which made-up rows must hold."""
    one, several = getattr(query, "record", None), getattr(query, "records", ())
    return (str(one),) if one is not None else tuple(several)


def _staged(
    opened: ExitStack, standing: StandIn, query: Query, declaration: Declaration, trial: Trial
) -> tuple[Stage, int]:
    view = opened.enter_context(standing.view(declaration, query.columns))
    return trial.on(view), len(view.fetch(numbers=query.columns[:1]).numbers)


def _drawn(stage: Stage, trial: Trial, draws: int, *, label: str) -> list[Mapping[str, Any] | None]:
    """Private answers. Seeds, not the system's randomness: the rows are no secret, and the same picture comes out twice."""
    answers = []
    for seed in range(draws if trial.is_random else 1):
        answers.append(stage.draw(SeededEntropy(seed)))
        report(label, seed + 1, draws)
    return answers


def _lines(
    declaration: Declaration, query: Query, standing: StandIn, choices: Mapping[str, Sequence[Any]], draws: int
) -> list[Line]:
    trial = _trial(query)
    wanted = [(name, value) for name, values in choices.items() for value in values]
    lines = []
    for done, (name, value) in enumerate(wanted, start=1):
        lines.append(_line((query, declaration, trial), (name, value), standing, draws))
        report("other choices", done, len(wanted))
    return lines


def _line(asked: tuple[Query, Declaration, Trial], choice: tuple[str, Any], standing: StandIn, draws: int) -> Line:
    (query, declaration, trial), (name, value) = asked, choice
    written = exactly(value) if isinstance(value, Fraction) else str(value)
    try:
        other, under = trial.changed(name, value, declaration)
        price = price_of(other, under)
        with ExitStack() as opened:
            own = _trial(other)
            stage, _ = _staged(opened, standing, other, under, own)
            scores = [stage.score(answer) for answer in _drawn(stage, own, draws, label=f"{name} {written}")]
    except WallflowerError as error:
        return Line(parameter=name, value=written, asked=False, refused=error.message)
    numbers = sorted(number for number, _ in scores)
    return Line(
        parameter=name,
        value=written,
        asked=other == query and under == declaration,
        cost=_cost(price.guarantee),
        truth=stage.number,
        low=_at(numbers, 0.1),
        middle=_at(numbers, 0.5),
        high=_at(numbers, 0.9),
        useful=sum(useful for _, useful in scores) / len(scores),
    )


def _told(truth: Mapping[str, Any] | None, told: Any, *, is_random: bool) -> str:
    if truth is None:
        return "no answer" if is_random else "the rows as they are, which are never published"
    return str((told or str)(truth))


def _cost(guarantee: Guarantee) -> str:
    """What is charged; not the other parameters of a promise."""
    charged = ("epsilon", "delta", "publications")
    return ", ".join(f"{name} {guarantee.parameters[name]}" for name in charged if name in guarantee.parameters)


def _at(ordered: Sequence[float], part: float) -> float:
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)]
