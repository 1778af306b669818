"""Contexts in words: read from the command line, said to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wallflower.errors import UsageError, nearest_name
from wallflower.explain.space import Space
from wallflower.schema.domains import Bins, Categories


def text(space: Space, index: int) -> str:
    """The context as a sentence's end."""
    parts = []
    for column, domain, codes in zip(space.columns, space.domains, space.chosen(index), strict=True):
        left_out = [domain.text(code) for code in range(domain.size) if code not in codes]
        name = column.replace("_", " ")
        if not left_out:
            parts.append(f"{name} is any")
        elif len(left_out) <= 2 < len(codes):
            parts.append(f"{name} is any but {_either(left_out)}")
        else:
            parts.append(f"{name} is {_either([domain.text(code) for code in codes])}")
    return ", and ".join(parts)


def parse_context(text: str) -> dict[str, tuple[str, ...]]:
    """A context as the command line writes it: `col=v|v;col=v`; a column left out may hold anything.

    >>> parse_context("job=CEO|Lawyer;city=Ottawa")
    {'job': ('CEO', 'Lawyer'), 'city': ('Ottawa',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        column, equals, values = (piece.strip() for piece in part.partition("="))
        if not equals or not values or column in found:
            raise UsageError(f"a context is written col=v|v;col=v with each column once, got '{part}'.")
        found[column] = tuple(value.strip() for value in values.split("|"))
    return found


def context_codes(
    context: Mapping[str, Sequence[str]], columns: Sequence[str], domains: Sequence[Categories | Bins]
) -> tuple[tuple[int, ...], ...]:
    """The codes of a named context; refused when a column or a value is not declared."""
    unknown = [column for column in context if column not in columns]
    if unknown:
        raise UsageError(
            f"the context names '{unknown[0]}', which is not in 'by'.", hint=nearest_name(unknown[0], columns)
        )
    found = []
    for column, domain in zip(columns, domains, strict=True):
        texts = [domain.text(code) for code in range(domain.size)]
        wanted = context.get(column, texts)
        missing = [value for value in wanted if value not in texts]
        if missing:
            raise UsageError(
                f"'{missing[0]}' is not a declared value of '{column}'.", hint=nearest_name(missing[0], texts)
            )
        if not wanted:
            raise UsageError(f"the context holds no value of '{column}'.")
        found.append(tuple(sorted(texts.index(value) for value in wanted)))
    return tuple(found)


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
