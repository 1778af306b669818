"""Fields of a question that are written as text and held as what they mean from then on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from wallflower.detectors.base import Detector
from wallflower.detectors.registry import detector
from wallflower.errors import UsageError
from wallflower.explain.languages import parse_languages
from wallflower.explain.sentences import parse_context
from wallflower.schema.exact import quoted
from wallflower.schema.fields import Field

Context = Mapping[str, Sequence[str]]


class Start(Field[Context | str | None, Context | None]):
    """A public context, written `col=v|v;col=v`; None where there is none."""

    def __init__(self) -> None:
        super().__init__(default=None)

    def read(self, value: Context | str | None) -> Context | None:
        if isinstance(value, str):
            value = parse_context(value)
        if value is None:
            return None
        if not isinstance(value, Mapping) or not all(isinstance(held, Iterable) for held in value.values()):
            raise UsageError(
                f"'{self._name}' must name columns with their values, got {quoted(value)}.",
                hint='Write {"job": ("CEO", "Lawyer")}, or "job=CEO|Lawyer".',
            )
        return {name: tuple(held) for name, held in value.items()}


class Contexts(Field[Mapping[str, str] | str | None, Mapping[str, str]]):
    """Languages by column, written `col=sets,col=range`; none given by default."""

    def __init__(self) -> None:
        super().__init__(default="")

    def read(self, value: Mapping[str, str] | str | None) -> Mapping[str, str]:
        if value is None or isinstance(value, str):
            return parse_languages(value or "")
        if not isinstance(value, Mapping):
            raise UsageError(
                f"'{self._name}' must name columns with their languages, got {quoted(value)}.",
                hint='Write {"job": "sets", "age": "range"}, or "job=sets,age=range".',
            )
        return parse_languages(",".join(f"{name}={kind}" for name, kind in value.items()))


class Detects(Field[Detector | str, Detector]):
    """What says that a value stands out: a detector, or its spelling, `lof(neighbours=20, threshold=1.5)`."""

    def read(self, value: Detector | str) -> Detector:
        found: Detector = detector(value) if isinstance(value, str) else value
        return found
