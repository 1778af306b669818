"""How a stream declaration is written: read the TOML, and refuse what is incomplete with the reason and a way out."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from wallflower.errors import DeclarationError, UsageError, nearest_name
from wallflower.schema.domains import Numbers
from wallflower.schema.exact import exact, shown
from wallflower.stream.declaration import (
    LONGEST_WINDOW,
    TWO_SERVERS,
    StreamBudget,
    StreamColumn,
    StreamDeclaration,
)


def load(path: str | Path) -> StreamDeclaration:
    """Read and check a stream declaration."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DeclarationError(f"the stream declaration '{file}' cannot be read ({type(error).__name__}).") from None
    return loads(text, path=file)


def loads(text: str, *, path: Path | None = None) -> StreamDeclaration:
    """The same from text; `path` is where relative files are looked for."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DeclarationError(f"the stream declaration is not valid TOML: {error}.") from None
    try:
        return _declaration(content, path)
    except UsageError as error:  # numbers are refused as usage elsewhere; here they stand in a file
        raise DeclarationError(error.message, hint=error.hint) from None


_SECTIONS = ("stream", "columns", "budget")
_STREAM = {
    "id": "a name for the stream",
    "broker": "where the broker is, as mqtt://host:1883 or mqtts://host:8883",
    "topic_prefix": "the MQTT topic under which every party speaks",
    "window": "how many readings make a window",
    "protocol": '"private", or "paper" for the two-server protocol of the 2017 paper',
    "guarantee": '"local-dp" (clipped, the same for every reading) or "metric-privacy" (by distance)',
    "core_radius": "the public radius of the core, in scaled units",
}
_OPTIONAL = ("epsilon2", "layers", "outlier_width", "trust", "detector", "outlier_share", "ca", "test")
_COLUMN = {
    "lower": "the public lower bound",
    "upper": "the public upper bound",
    "step": "the public grid that readings are rounded to",
    "centre": "the public centre",
    "scale": "the public scale of distances",
    "epsilon": "this column's share of what one reading costs",
}
_BUDGET = {
    "per_window": "the most that a window may cost a person behind all of it",
    "per_day": "the most that a day may cost a person behind all of it",
}


def _declaration(content: Mapping[str, Any], path: Path | None) -> StreamDeclaration:
    _only(content, _SECTIONS, "the file")
    stream = _section(content, "stream", _STREAM, _OPTIONAL)
    protocol = _choice(stream, "protocol", ("private", "paper"))
    promise = _choice(stream, "guarantee", ("local-dp", "metric-privacy"))
    core_radius = _above_zero(stream, "core_radius")
    tables = content.get("columns", {})
    if not isinstance(tables, Mapping) or not tables:
        raise DeclarationError("no column is declared.", hint="Write one [columns.NAME] for each measured quantity.")
    columns = tuple(_column(name, table, core_radius) for name, table in tables.items())
    limits = _section(content, "budget", _BUDGET, ())
    folder = Path() if path is None else path.parent
    declared = StreamDeclaration(
        id=_name(stream, "id"),
        broker=_broker(stream),
        topic_prefix=_topic(stream),
        window=_window(stream),
        protocol=protocol,  # type: ignore[arg-type]
        promise=promise,  # type: ignore[arg-type]
        core_radius=core_radius,
        layers=_layers(stream, core_radius),
        epsilon2=_epsilon2(stream, protocol),
        outlier_width=_outlier_width(stream, protocol),
        detector=_detector(stream, protocol),
        outlier_share=_share(stream),
        columns=columns,
        budget=StreamBudget(per_window=_above_zero(limits, "per_window"), per_day=_above_zero(limits, "per_day")),
        ca=folder / str(stream["ca"]) if "ca" in stream else None,
        test=_flag(stream, "test"),
        path=path,
    )
    _affordable(declared)
    return declared


def _affordable(declared: StreamDeclaration) -> None:
    spent, limits = declared.window_epsilon, declared.budget
    sum_in_words = f"{declared.window} readings of {shown(declared.event_epsilon)} each are {shown(spent)}"
    for name, limit in (("per_window", limits.per_window), ("per_day", limits.per_day)):
        if spent > limit:
            raise DeclarationError(
                f"a full window costs more than '{name}' of [budget] allows: {sum_in_words}, and the limit is {shown(limit)}.",
                hint="Raise the limit, shorten the window, or lower the columns' epsilon.",
            )


def _section(
    content: Mapping[str, Any], name: str, required: Mapping[str, str], optional: tuple[str, ...]
) -> Mapping[str, Any]:
    section = content.get(name, {})
    if not isinstance(section, Mapping):
        raise DeclarationError(f"'{name}' must be a table, written [{name}].")
    _only(section, (*required, *optional), f"[{name}]")
    _complete(section, required, f"[{name}]")
    return section


def _only(given: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key not in known:
            raise DeclarationError(f"{where} has no setting '{key}'.", hint=nearest_name(key, known))


def _complete(section: Mapping[str, Any], required: Mapping[str, str], where: str) -> None:
    missing = [key for key in required if key not in section]
    if missing:
        raise DeclarationError(
            f"{where} lacks {', '.join(repr(key) for key in missing)}.",
            hint=" ".join(f"'{key}' is {required[key]}." for key in missing),
        )


def _column(name: str, table: object, core_radius: Fraction) -> StreamColumn:
    where = f"[columns.{name}]"
    if not isinstance(table, Mapping):
        raise DeclarationError(f"{where} must be a table.")
    _only(table, (*_COLUMN, "core_width"), where)
    _complete(table, _COLUMN, where)
    numbers = {key: exact(value, name=f"{key} of {name}") for key, value in table.items()}
    for key in ("scale", "epsilon", "core_width"):
        if key in numbers and numbers[key] <= 0:
            raise DeclarationError(f"'{key}' of {where} must be above 0, got {shown(numbers[key])}.")
    domain = Numbers(lower=numbers["lower"], upper=numbers["upper"], step=numbers["step"])
    if not domain.lower <= numbers["centre"] <= domain.upper:
        raise DeclarationError(f"'centre' of {where} must lie between its bounds, got {shown(numbers['centre'])}.")
    return StreamColumn(
        name=name,
        domain=domain,
        centre=numbers["centre"],
        scale=numbers["scale"],
        epsilon=numbers["epsilon"],
        core_width=numbers.get("core_width", 2 * core_radius * numbers["scale"]),
    )


def _above_zero(section: Mapping[str, Any], key: str) -> Fraction:
    number = exact(section[key], name=key)
    if number <= 0:
        raise DeclarationError(f"'{key}' must be above 0, got {shown(number)}.")
    return number


def _choice(section: Mapping[str, Any], key: str, known: tuple[str, ...]) -> str:
    value = section[key]
    if value not in known:
        raise DeclarationError(f"'{key}' must be one of {', '.join(known)}, got {value!r}.")
    return str(value)


def _flag(section: Mapping[str, Any], key: str) -> bool:
    value = section.get(key, False)
    if not isinstance(value, bool):
        raise DeclarationError(f"'{key}' must be true or false, got {value!r}.")
    return value


def _name(section: Mapping[str, Any], key: str) -> str:
    value = section[key]
    if not isinstance(value, str) or not value.strip():
        raise DeclarationError(f"'{key}' must be a text, got {value!r}.")
    return value


def _broker(section: Mapping[str, Any]) -> str:
    value = _name(section, "broker")
    scheme, mark, rest = value.partition("://")
    if not mark or scheme not in {"mqtt", "mqtts"} or not rest or "@" in rest:
        raise DeclarationError(
            f"'broker' must look like mqtt://host:1883 or mqtts://host:8883, got {value!r}.",
            hint="Names and passwords do not belong in the declaration; see docs/stream.md.",
        )
    return value


def _topic(section: Mapping[str, Any]) -> str:
    value = _name(section, "topic_prefix").strip("/")
    if not value or any(mark in value for mark in "+#\0") or len(value.encode()) > 200:
        raise DeclarationError(f"'topic_prefix' must be a topic without wildcards, got {section['topic_prefix']!r}.")
    return value


def _window(section: Mapping[str, Any]) -> int:
    value = section["window"]
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LONGEST_WINDOW:
        raise DeclarationError(f"'window' must be a whole number from 1 to {LONGEST_WINDOW}, got {value!r}.")
    return value


def _layers(section: Mapping[str, Any], core_radius: Fraction) -> tuple[Fraction, ...]:
    further = section.get("layers", [])
    if not isinstance(further, list):
        raise DeclarationError(f"'layers' must be a list of radii beyond the core radius, got {further!r}.")
    radii = (core_radius, *(exact(radius, name="layers") for radius in further))
    if any(outer <= inner for inner, outer in itertools.pairwise(radii)) or len(radii) > 15:
        raise DeclarationError(
            f"'layers' must grow outwards from the core radius ({shown(core_radius)}), at most 14 of them, got {further!r}."
        )
    return radii


def _epsilon2(section: Mapping[str, Any], protocol: str) -> Fraction:
    if protocol == "paper":
        if "epsilon2" in section or "layers" in section:
            raise DeclarationError(
                "'epsilon2' and 'layers' belong to the private protocol; the paper's sends no randomised code."
            )
        return Fraction(0)
    if "epsilon2" not in section:
        raise DeclarationError(
            "[stream] lacks 'epsilon2'.", hint="'epsilon2' is what the randomised radius bit of each reading costs."
        )
    return _above_zero(section, "epsilon2")


def _outlier_width(section: Mapping[str, Any], protocol: str) -> Fraction | None:
    if protocol == "private":
        for key in ("outlier_width", "trust"):
            if key in section:
                raise DeclarationError(f"'{key}' belongs to the paper's protocol; leave it out.")
        return None
    if section.get("trust") != TWO_SERVERS:
        raise DeclarationError(
            "the paper's protocol rests on trust that the declaration must spell out.",
            hint=f'If that is acceptable, write trust = "{TWO_SERVERS}"; otherwise use protocol = "private".',
        )
    if "outlier_width" not in section:
        raise DeclarationError(
            "[stream] lacks 'outlier_width'.", hint="'outlier_width' is the width of the outlier layer."
        )
    return _above_zero(section, "outlier_width")


def _detector(section: Mapping[str, Any], protocol: str) -> str:
    if "detector" in section:
        return _name(section, "detector")
    if protocol == "paper":
        raise DeclarationError(
            "[stream] lacks 'detector'.", hint='The paper uses DBSCAN: write detector = "dbscan(radius=0.5, least=5)".'
        )
    return "beyond"


def _share(section: Mapping[str, Any]) -> Fraction | None:
    if "outlier_share" not in section:
        return None
    share = _above_zero(section, "outlier_share")
    if share >= 1:
        raise DeclarationError(f"'outlier_share' must be below 1, got {shown(share)}.")
    return share
