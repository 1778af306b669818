"""From a TOML file to a stream declaration, through the one front end: every mistake at once, each with its line."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

from wallflower.errors import DeclarationError
from wallflower.schema.domains import Numbers
from wallflower.schema.exact import shown
from wallflower.schema.parser import parse, read_text
from wallflower.schema.section import Section
from wallflower.stream.declaration import (
    MOST_PARTITIONS,
    PROTOCOLS,
    Protocol,
    StreamBudget,
    StreamColumn,
    StreamDeclaration,
)
from wallflower.stream.number_ranges import cost, length, limit
from wallflower.stream.protocol_parser import COLUMN_KEYS, OPTIONAL, REQUIRED, ProtocolKeys, read_protocol
from wallflower.stream.roster import read_roster

_COMMON = {
    "id": 'id = "pumps"',
    "broker": 'broker = "mqtt://localhost:1883"',
    "topic_prefix": 'topic_prefix = "plant/pumps"',
    "roster": 'roster = ["boiler-1", "boiler-2"], or the name of a file with one name a line',
    "core_radius": 'core_radius = "3"',
}
_FREE = ("protocol", "partitions", "quota", "ca", "test")
_COLUMN = {
    "lower": "lower = 0",
    "upper": "upper = 100",
    "step": 'step = "0.01"',
    "centre": "centre = 50",
    "scale": "scale = 4",
}
QUOTA = 500
"""Messages a second, where the declaration says nothing."""


def load(path: str | Path) -> StreamDeclaration:
    """Read and check a stream declaration."""
    file = Path(path)
    return loads(read_text(file, what="stream declaration"), path=file)


def loads(text: str, *, path: Path | None = None) -> StreamDeclaration:
    """The same from text; `path` is where relative files are looked for."""
    file = parse(
        text, name="the stream declaration" if path is None else path.name, known=("stream", "columns", "budget")
    )
    protocol = _protocol(file)
    stream = file.section(
        "stream", (*_COMMON, *_FREE, *REQUIRED[protocol], *OPTIONAL[protocol]), why_not=_why(protocol)
    )
    if stream is None:
        file.problems.add((), "the table [stream] is missing.", "docs/stream.md starts with a whole one.")
        file.problems.raise_any()
        raise AssertionError  # pragma: no cover - raise_any has raised
    for key, example in (_COMMON | REQUIRED[protocol]).items():
        stream.need(key, example)
    folder = Path() if path is None else path.parent
    core_radius = length(stream, "core_radius")
    columns = _columns(file, protocol, core_radius or Fraction(1))
    own = read_protocol(stream, protocol, core_radius or Fraction(1))
    budget = _budget(file, protocol)
    found = StreamDeclaration(
        id=stream.text("id") or "",
        broker=_broker(stream),
        topic_prefix=_topic(stream),
        roster=read_roster(stream, folder),
        partitions=stream.whole("partitions", least=1, most=MOST_PARTITIONS) or 1,
        quota=stream.whole("quota", least=1, most=100_000) or QUOTA,
        protocol=protocol,
        promise=own.promise,
        core_radius=core_radius or Fraction(1),
        slots=own.slots,
        window=own.window,
        layers=own.layers,
        epsilon2=own.epsilon2,
        outlier_width=own.outlier_width,
        detector=own.detector,
        outlier_share=own.outlier_share,
        columns=columns,
        budget=budget,
        ca=_ca(stream, folder),
        test=bool(stream.flag("test")),
        path=path,
    )
    file.problems.raise_any()
    _affordable(found, own)
    return found


def _protocol(file: Section) -> Protocol:
    """The one key that decides which others belong; without it a stream raises alarms."""
    section = file.section("stream", tuple(file.raw["stream"]) if isinstance(file.raw.get("stream"), dict) else ())  # type: ignore[arg-type]
    chosen = section.choice("protocol", PROTOCOLS) if section is not None else None
    if chosen is None:
        file.problems.raise_any()
        return "alarm"
    return chosen  # type: ignore[return-value]


def _why(protocol: Protocol) -> dict[str, str]:
    """Of keys that another protocol has: whose they are."""
    reasons = {}
    for other in reversed(PROTOCOLS):
        for key in (*REQUIRED[other], *OPTIONAL[other]):
            reasons[key] = f'It belongs to protocol = "{other}", and this is "{protocol}": leave it out.'
    return reasons


def _columns(file: Section, protocol: Protocol, core_radius: Fraction) -> tuple[StreamColumn, ...]:
    more = COLUMN_KEYS[protocol]
    columns = []
    for name, section in file.sections("columns", (*_COLUMN, *more)):
        for key, example in _COLUMN.items():
            section.need(key, example)
        if "epsilon" in more:
            section.need("epsilon", 'epsilon = "1"')
        column = _column(name, section, core_radius)
        if column is not None:
            columns.append(column)
    if not file.raw.get("columns"):
        file.problems.add((), "no column is declared.", "Write one [columns.NAME] for each measured quantity.")
    return tuple(columns)


def _column(name: str, section: Section, core_radius: Fraction) -> StreamColumn | None:
    before = len(section.problems.found)
    lower, upper, centre = section.number("lower"), section.number("upper"), section.number("centre")
    step, scale, width = (length(section, key) for key in ("step", "scale", "core_width"))
    epsilon = cost(section, "epsilon")
    if lower is None or upper is None or step is None or centre is None or scale is None:
        return None
    if len(section.problems.found) > before:
        return None
    try:
        domain = Numbers(lower=lower, upper=upper, step=step)
    except DeclarationError as error:
        section.refuse("upper", error.message, error.hint)
        return None
    if not lower <= centre <= upper:
        section.wrong("centre", "between the column's bounds")
        return None
    return StreamColumn(
        name=name,
        domain=domain,
        centre=centre,
        scale=scale,
        epsilon=epsilon or Fraction(0),
        core_width=width or 2 * core_radius * scale,
    )


def _budget(file: Section, protocol: Protocol) -> StreamBudget:
    windows = "window" in REQUIRED[protocol]
    known = ("per_window", "per_day") if windows else ("per_day",)
    why_not = {} if windows else {"per_window": f'protocol = "{protocol}" has no windows; leave it out.'}
    section = file.section("budget", known, why_not=why_not)
    if section is None:
        file.problems.add((), "the table [budget] is missing.", f"It says {' and '.join(known)}.")
        return StreamBudget(per_window=None, per_day=Fraction(1))
    for key in known:
        section.need(key, f'{key} = "4"')
    return StreamBudget(
        per_window=(limit(section, "per_window") or Fraction(1)) if windows else None,
        per_day=limit(section, "per_day") or Fraction(1),
    )


def _broker(section: Section) -> str:
    value = section.text("broker")
    if value is None:
        return ""
    scheme, mark, rest = value.partition("://")
    if not mark or scheme not in {"mqtt", "mqtts"} or not rest or "@" in rest:
        section.wrong(
            "broker",
            "like mqtt://host:1883 or mqtts://host:8883",
            "Names and passwords do not belong in the declaration; see docs/stream.md.",
        )
    return value


def _topic(section: Section) -> str:
    value = (section.text("topic_prefix") or "").strip("/")
    if "topic_prefix" in section and (not value or any(mark in value for mark in "+#") or len(value.encode()) > 200):
        section.wrong("topic_prefix", "a topic without wildcards")
    return value


def _ca(section: Section, folder: Path) -> Path | None:
    """Relative to the declaration, wherever the command is run."""
    written = section.text("ca")
    return None if written is None else folder / written


def _affordable(declared: StreamDeclaration, own: ProtocolKeys) -> None:
    limits = declared.budget
    if own.slots is not None:
        spent, words = own.slots.epsilon, f"a period costs {shown(own.slots.epsilon)}"
        checks = [("per_day", limits.per_day)]
    else:
        spent = declared.window_epsilon
        words = f"{declared.window} readings of {shown(declared.event_epsilon)} each are {shown(spent)}"
        checks = [("per_window", limits.per_window or spent), ("per_day", limits.per_day)]
    for name, most in checks:
        if spent > most:
            what = "a full window" if own.slots is None else "a period"
            raise DeclarationError(
                f"{what} costs more than '{name}' of [budget] allows: {words}, and the limit is {shown(most)}.",
                hint="Raise the limit, shorten the window, or lower epsilon.",
            )
