"""How a question about a record is rehearsed: the released context beside the best valid one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wallflower.errors import UsageError
from wallflower.explain.landscape import Landscape
from wallflower.explain.record_view import RecordView
from wallflower.explain.sentences import text
from wallflower.noise.entropy import Entropy
from wallflower.privacy.trial import FieldTrial, Stage
from wallflower.schema.declaration import Declaration

MEASURED = "utility of the released context, as a share of the best valid one's (0: not valid, or no answer)"
USEFUL = "the released context is valid and has four fifths of the best utility"


def staged(
    view: RecordView,
    landscape: Landscape,
    draw: Callable[[Entropy], Sequence[int]],
    *,
    known: bool,
    top: int,
    most: int,
) -> Stage:
    """`draw` gives the indices of released contexts; `most` contexts can be looked at all."""
    if view.space.count > most:
        raise UsageError(
            f"there are {view.space.count} contexts, too many to know the true answer, so this is not rehearsed.",
            hint="Write contexts in smaller languages (--contexts), or name fewer columns in --by.",
        )

    def answer(indices: Sequence[int]) -> dict[str, Any] | None:
        if not len(indices) or not known:
            return None
        said = [{"context": view.space.named(index), "text": text(view.space, index)} for index in indices]
        return said[0] if top == 1 else {"contexts": said}

    valid = {int(index) for index in landscape.every_valid}
    scores = landscape.every_score
    ranked = sorted(valid, key=lambda index: (-int(scores[index]), index))[:top] if known else []
    best = sum(int(scores[index]) for index in ranked)

    def score(told: Mapping[str, Any] | None) -> tuple[float, bool]:
        found = [] if told is None else told.get("contexts", [told])
        indices = [_index(view, one["context"]) for one in found]
        reached = sum(int(scores[index]) for index in indices if index in valid)
        part = reached / best if best else 0.0
        return part, part >= 4 / 5

    return Stage(
        truth=answer(ranked),
        number=1.0 if best else None,
        draw=lambda entropy: answer(draw(entropy)),
        score=score,
    )


@dataclass(frozen=True, kw_only=True)
class TogetherTrial(FieldTrial):
    """Several records: what is varied are fields of the one question that is asked of each."""

    def changed(self, name: str, value: Any, declaration: Declaration) -> tuple[Any, Declaration]:
        return replace(self.query, question=replace(self.query.question, **{name: value})), declaration


def together(stages: Mapping[str, Stage], draw: Callable[[Entropy], Mapping[str, Any] | None]) -> Stage:
    """The stages of several records as one; `draw` answers for all of them."""

    def score(answer: Mapping[str, Any] | None) -> tuple[float, bool]:
        found = {} if answer is None else {one["record"]: one["answer"] for one in answer["records"]}
        scores = [stage.score(found.get(record)) for record, stage in stages.items()]
        return sum(part for part, _ in scores) / len(scores), all(useful for _, useful in scores)

    said = [{"record": record, "answer": stage.truth} for record, stage in stages.items()]
    known = any(stage.truth is not None for stage in stages.values())
    return Stage(truth={"records": said} if known else None, number=1.0 if known else None, draw=draw, score=score)


def _index(view: RecordView, named: Mapping[str, Sequence[str]]) -> int:
    """The context that an answer names."""
    space = view.space
    chosen = []
    for name, domain in zip(space.columns, space.domains, strict=True):
        texts = {domain.text(code): code for code in range(domain.size)}
        chosen.append(tuple(texts[value] for value in named[name]))
    found = space.index(chosen)
    return -1 if found is None else found
