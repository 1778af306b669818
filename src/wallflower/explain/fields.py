"""Fields of a question that are written as text and held as what they mean from then on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wallflower.explain.languages import parse_languages
from wallflower.explain.sentences import parse_context


class Start:
    """A public context, written `col=v|v;col=v`; None where there is none."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Mapping[str, Sequence[str]] | None:
        held: Mapping[str, Sequence[str]] | None = None if instance is None else instance.__dict__[self._name]
        return held

    def __set__(self, instance: object, value: Mapping[str, Sequence[str]] | str | None) -> None:
        if isinstance(value, str):
            value = parse_context(value)
        instance.__dict__[self._name] = None if value is None else {name: tuple(held) for name, held in value.items()}


class Contexts:
    """Languages by column, written `col=sets,col=range`; none given by default."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> Mapping[str, str]:
        if instance is None:
            return ""  # type: ignore[return-value]  # the default as it would be written: a dataclass allows no mutable one
        held: Mapping[str, str] = instance.__dict__[self._name]
        return held

    def __set__(self, instance: object, value: Mapping[str, str] | str | None) -> None:
        text = value if isinstance(value, str) else ",".join(f"{name}={kind}" for name, kind in (value or {}).items())
        instance.__dict__[self._name] = parse_languages(text)


class Names:
    """Column names, in order."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type | None = None) -> tuple[str, ...]:
        if instance is None:
            raise AttributeError(self._name)  # which is how a dataclass learns that there is no default
        held: tuple[str, ...] = instance.__dict__[self._name]
        return held

    def __set__(self, instance: object, value: Sequence[str]) -> None:
        instance.__dict__[self._name] = tuple(value)
