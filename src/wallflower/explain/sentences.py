"""Contexts in words: read from the command line, said to people.

What a column is commonly called says how its values are spoken of: "nurses in Dale, aged 30 to 39". Other columns are named. Columns that may
hold anything are left out. The words depend on the context and the declaration alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from wallflower.errors import UsageError, nearest_name
from wallflower.explain.languages import Vocabulary
from wallflower.explain.space import Space
from wallflower.schema.domains import Bins, Categories

WHO = {"job", "job_title", "occupation", "profession", "position"}
WHERE = {
    "branch", "city", "clinic", "country", "county", "department", "district", "employer", "hospital", "office", "place",
    "province", "region", "sector", "site", "state", "town", "ward",
}  # fmt: skip
WHEN = {"year", "month", "date", "day"}
FEW = 3
"""More values than this are told by what is left out, where that is shorter."""


def text(space: Space, index: int) -> str:
    """The context as a person would say it."""
    who, places, ages, others = "rows", list[str](), list[str](), list[str]()
    for words, codes in zip(space.vocabularies, space.chosen(index), strict=True):
        name = words.column
        if len(codes) == words.domain.size:
            continue
        said, negative = spoken(words, codes)
        if name in WHO and all(_countable(value) for value in said):
            plurals = [_plural(value) for value in said]
            who = f"everyone but {_and(plurals)}" if negative else _either(plurals)
        elif name in WHERE | WHEN:
            places.append(f"{'outside' if negative else 'in'} {_either(said)}")
        elif name == "age" and not negative:
            ages.append(f"aged {_either(said)}")
        else:
            others.append(f"{name.replace('_', ' ')} {'other than ' if negative else ''}{_either(said)}")
    sentence = " ".join([who, *places]) + "".join(f", {part}" for part in ages)
    if others:
        sentence += f"{', ' if places or ages else ' '}with {_and(others)}"
    return "all rows" if sentence == "rows" else sentence


def spoken(words: Vocabulary, codes: Sequence[int]) -> tuple[list[str], bool]:
    """The values of a set in words, runs of ordered ones together; or those left out, where these are fewer."""
    domain = words.domain
    if words.language == "tree" and words.tree is not None and isinstance(domain, Categories):
        places = [words.tree.position(domain.values[code]) for code in codes]
        return [words.tree.text(min(places), max(places))], False
    if isinstance(domain, Bins) or words.language == "range":
        return [_run(domain, first, last) for first, last in _runs(codes)], False
    left_out = [code for code in range(domain.size) if code not in codes]
    if len(codes) > FEW and len(left_out) < len(codes):
        return [domain.text(code) for code in left_out], True
    return [domain.text(code) for code in codes], False


def _runs(codes: Sequence[int]) -> list[tuple[int, int]]:
    ends = [code for code, after in pairwise([*codes, codes[-1] + 2]) if after != code + 1]
    starts = [code for before, code in pairwise([codes[0] - 2, *codes]) if code != before + 1]
    return list(zip(starts, ends, strict=True))


def _run(domain: Categories | Bins, first: int, last: int) -> str:
    if isinstance(domain, Categories):
        low, high = domain.text(first), domain.text(last)
    else:
        after = domain.edges[last + 1] - 1 if last + 1 < domain.size else domain.domain.last
        low, high = domain.domain.text(domain.edges[first]), domain.domain.text(after)
    return low if low == high else f"{low} to {high}"


def _countable(word: str) -> bool:
    return word[:1].isalpha() and word[-1:].isalpha()


def _plural(word: str) -> str:
    """Nurse → nurses, CEO → CEOs, secretary → secretaries."""
    spelled = word[0].lower() + word[1:] if word[1:].islower() else word
    if spelled.endswith("y") and spelled[-2:-1] not in set("aeiou"):
        return f"{spelled[:-1]}ies"
    return spelled if spelled.endswith("s") else f"{spelled}s"


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


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
