"""[columns.*]: from what the owner wrote to a domain, and to what becomes of values outside it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import cast, get_args

from wallflower.schema.declaration import Becomes, Clip, Column, Drop, Neighbours, Reading, Role
from wallflower.schema.domain_parser import number_of, own_units, read_domain
from wallflower.schema.domains import Bins, Categories, Dates, Domain
from wallflower.schema.format_parser import (
    read_codes,
    read_dates,
    read_thousands,
    refuse_declared_codes,
    refuse_unread,
)
from wallflower.schema.hierarchy import ORDERED
from wallflower.schema.people import People, read_reducer
from wallflower.schema.problems import Bare, Problems, said
from wallflower.schema.section import Section, nearest_hint

KEYS = (
    "role",
    "values",
    "lower",
    "upper",
    "step",
    "outside",
    "missing",
    "bins",
    "centre",
    "scale",
    "weight",
    "hierarchy",
    "per_person",
    "thousands",
    "date",
    "missing_codes",
)
ROLES: tuple[Role, ...] = get_args(Role)
DROP_MOVES_THE_COUNT = (
    'Under neighbours = "replace-one" the number of rows is public, and a dropped row would change it.'
)


@dataclass(frozen=True)
class Surroundings:
    """What a column's table says that its own lines depend on."""

    neighbours: Neighbours | None
    folder: Path
    people: People
    read: Reading


def read_column(problems: Problems, name: str, raw: dict[str, object], around: Surroundings) -> Column | None:
    """The column, or None after noting what is wrong with it."""
    before = len(problems.found)
    neighbours, folder = around.neighbours, around.folder
    if raw.get("role") == "identifier":
        reason = "An identifier never reaches a query: it needs its role and nothing else."
        why_not = dict.fromkeys(KEYS[1:], reason)
        Section(problems, ("columns", name), raw, known=("role",), why_not=why_not)
        return Column(name=name, role="identifier", domain=None)

    section = Section(problems, ("columns", name), raw, known=KEYS)
    section.need("role", 'role = "sensitive"')
    role = section.choice("role", ROLES)
    domain = read_domain(section, folder)
    outside = _replacement(section, "outside", domain, neighbours)
    missing = _replacement(section, "missing", domain, neighbours)
    bins = _bins(section, domain)
    centre = _centre(section, domain)
    scale, weight = section.number("scale"), section.number("weight")
    if scale is not None and scale <= 0:
        section.wrong("scale", "above 0")
    if weight is not None and weight < 0:
        section.wrong("weight", "at least 0")
    if isinstance(domain, Categories) and "scale" in section:
        section.refuse("scale", "'scale' is for numbers and dates, and this column holds declared values.")
    hierarchy = _hierarchy(section, folder)
    per_person = read_reducer(section, domain, around.people)
    thousands, dates, codes = read_thousands(section, around.read.decimal), read_dates(section), read_codes(section)
    refuse_unread(section, domain)
    refuse_declared_codes(section, domain, around.read.missing_codes if codes is None else codes)
    if len(problems.found) > before:
        return None
    return Column(
        name=name,
        role=cast("Role", role),
        domain=domain,
        outside=cast("Drop | Clip | Becomes", outside),
        missing=cast("Drop | Becomes", missing),
        bins=bins,
        centre=centre,
        scale=scale,
        weight=weight,
        hierarchy=hierarchy,
        per_person=per_person,
        thousands=thousands,
        dates=dates,
        missing_codes=codes,
    )


def _replacement(
    section: Section, key: str, domain: Domain | None, neighbours: Neighbours | None
) -> Drop | Clip | Becomes | None:
    """What `outside` or `missing` says; None after noting why it cannot say that."""
    clips = key == "outside" and not isinstance(domain, Categories)
    words = (("drop",) if neighbours != "replace-one" else ()) + (("clip",) if clips else ())
    if not section.need(key, _example(key, words, domain)):
        return None
    written = section.raw[key]
    if written in ("drop", "clip"):
        refusal = _word_refused(key, str(written), domain, neighbours)
        if refusal:
            others = [f"write {said(word)}" for word in words if word != written]
            section.refuse(key, refusal, f"{', or '.join([f'Name a declared value for {key}', *others])}.")
            return None
        return Drop() if written == "drop" else Clip()
    number = None if domain is None else number_of(domain, written)
    if number is None and domain is not None:
        section.wrong(key, *_expected(domain, words, written))
    return None if number is None else Becomes(number)


def _example(key: str, words: tuple[str, ...], domain: Domain | None) -> str:
    if words:
        return f"{key} = {said(words[-1])}"
    if domain is None:
        return f"{key} = followed by a declared value"
    value = domain.text(0) if isinstance(domain, Categories) else domain.text(domain.first)
    return f"{key} = {value if isinstance(domain, Dates) else said(value)}"


def _word_refused(key: str, word: str, domain: Domain | None, neighbours: Neighbours | None) -> str:
    """Why this word cannot stand here; empty when it can."""
    if isinstance(domain, Categories) and word in domain.values:
        return f"{said(word)} is both a declared value and a word of this file, so it could mean either."
    if word == "drop":
        return f'{key} = "drop" is refused here. {DROP_MOVES_THE_COUNT}' if neighbours == "replace-one" else ""
    if key == "missing":
        return 'missing = "clip" is refused: an empty cell has no nearer bound.'
    return 'outside = "clip" is refused: only numbers and dates have bounds.' if isinstance(domain, Categories) else ""


def _expected(domain: Domain, words: tuple[str, ...], written: object) -> tuple[str, str]:
    if isinstance(domain, Categories):
        expected, names = "a declared value", [*words, *domain.values]
    else:
        expected = f"a value from {domain.text(domain.first)} to {domain.text(domain.last)} on the declared grid"
        names = list(words)
    return " or ".join([*map(said, words), expected]), nearest_hint(written, names)


def _bins(section: Section, domain: Domain | None) -> Bins | None:
    written = section.raw.get("bins")
    if written is None or domain is None:
        return None
    if isinstance(domain, Categories):
        section.refuse("bins", "'bins' is for numbers and dates, and this column holds declared values.")
        return None
    start = domain.text(domain.first)
    if not isinstance(written, list) or not written:
        section.wrong("bins", f"a list of edges that starts at the lower bound, such as [{start}, ...]")
        return None
    edges: list[int] = []
    for place, item in enumerate(written):
        number = number_of(domain, item)
        expected = f"on the declared grid, from {start} to {domain.text(domain.last)}"
        if number is not None and edges and number <= edges[-1]:
            number, expected = None, "above the edge before it"
        if number is None:
            section.refuse("bins", f"every edge in 'bins' must be {expected}, got {said(item)}.", at=(place,))
            return None
        edges.append(number)
    if edges[0] != domain.first:
        hint = f"Begin with {start}: then every value has exactly one bin."
        section.wrong("bins", f"a list that starts at the lower bound ({start})", hint, at=(0,))
        return None
    return Bins(tuple(edges), domain)


def _centre(section: Section, domain: Domain | None) -> Fraction | None:
    written = section.raw.get("centre")
    if written is None or domain is None:
        return None
    if isinstance(domain, Categories):
        section.refuse("centre", "'centre' is for numbers and dates, and this column holds declared values.")
        return None
    value = own_units(domain, written)
    if value is None:
        section.wrong("centre", "a date" if isinstance(domain, Dates) else "a number")
    return value


def _hierarchy(section: Section, folder: Path) -> object:
    written = section.raw.get("hierarchy")
    if written is None:
        return None
    if isinstance(written, dict):
        return _nested(written)
    name = section.text("hierarchy") if isinstance(written, str) else None
    if name is None:
        section.wrong("hierarchy", 'the name of a file such as "job_title.csv", or a nested table')
        return None
    if name == ORDERED:
        return ORDERED
    path = folder / name
    if not path.is_file():
        section.refuse(
            "hierarchy", f"the hierarchy file {said(name)} is not there.", "It is looked for beside this file."
        )
    return str(path)


def _nested(value: object) -> object:
    """A nested hierarchy with nothing in it but tables, lists and texts."""
    if isinstance(value, dict):
        return {str(key): _nested(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_nested(item) for item in value]
    if isinstance(value, Bare):
        return value.text
    return value.isoformat() if isinstance(value, date) else value
