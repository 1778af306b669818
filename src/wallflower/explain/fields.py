"""Fields of a question that are written as text and held as what they mean from then on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wallflower.detectors.base import Detector
from wallflower.detectors.registry import detector
from wallflower.explain.languages import parse_languages
from wallflower.explain.sentences import parse_context
from wallflower.schema.fields import Field

Context = Mapping[str, Sequence[str]]


class Start(Field[Context | str | None, Context | None]):
    """A public context, written `col=v|v;col=v`; None where there is none."""

    def __init__(self) -> None:
        super().__init__(default=None)

    def read(self, value: Context | str | None) -> Context | None:
        if isinstance(value, str):
            value = parse_context(value)
        return None if value is None else {name: tuple(held) for name, held in value.items()}


class Contexts(Field[Mapping[str, str] | str | None, Mapping[str, str]]):
    """Languages by column, written `col=sets,col=range`; none given by default."""

    def __init__(self) -> None:
        super().__init__(default="")

    def read(self, value: Mapping[str, str] | str | None) -> Mapping[str, str]:
        text = value if isinstance(value, str) else ",".join(f"{name}={kind}" for name, kind in (value or {}).items())
        return parse_languages(text)


class Detects(Field[Detector | str, Detector]):
    """What says that a value stands out: a detector, or its spelling, `lof(neighbours=20, threshold=1.5)`."""

    def read(self, value: Detector | str) -> Detector:
        found: Detector = detector(value) if isinstance(value, str) else value
        return found
