"""Which keys of [stream] each protocol has, and how they are read."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from fractions import Fraction

from wallflower.schema.exact import shown
from wallflower.schema.section import Section, fraction
from wallflower.stream.declaration import LONGEST_WINDOW, MOST_SLOTS, TWO_SERVERS, Promise, Protocol, Slots
from wallflower.stream.number_ranges import LONGEST, LONGEST_IN_WORDS, chance, cost, length

_SLOTS = {
    "period": 'period = "24h"',
    "slot": 'slot = "15m"',
    "epsilon": 'epsilon = "4", for everything that a sensor sends in a period',
    "least_readings": "least_readings = 3",
}
_NOISED = {"window": "window = 1000", "guarantee": 'guarantee = "local-dp", or "metric-privacy" by distance'}
REQUIRED: dict[Protocol, dict[str, str]] = {
    "alarm": {**_SLOTS, "false_alarms": 'false_alarms = "0.05"', "live_share": 'live_share = "0.6"'},
    "share": _SLOTS,
    "code": {"window": "window = 1000", "epsilon": 'epsilon = "1", for the randomised bit of a reading'},
    "private": {**_NOISED, "epsilon2": 'epsilon2 = "2", for the randomised radius bit of each reading'},
    "paper": {
        **_NOISED,
        "trust": f'trust = "{TWO_SERVERS}", if that is acceptable',
        "outlier_width": 'outlier_width = "5", the width of the layer of outliers',
        "detector": 'detector = "dbscan(radius=0.5, least=5)"',
    },
}
OPTIONAL: dict[Protocol, tuple[str, ...]] = {
    "alarm": ("outlier_share",),
    "share": (),
    "code": (),
    "private": ("layers", "detector", "outlier_share"),
    "paper": ("outlier_share",),
}
COLUMN_KEYS: dict[Protocol, tuple[str, ...]] = {
    "alarm": (),
    "share": (),
    "code": (),
    "private": ("epsilon", "core_width"),
    "paper": ("epsilon", "core_width"),
}
_UNITS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600), "d": Fraction(86400)}
_DURATION = re.compile(r"(\d{1,9})\s*(ms|s|m|h|d)")
_SHORTEST = Fraction(1, 20)
_DAY = _UNITS["d"]
ACROSS = (
    "Periods are counted from 1970 in UTC: one that crosses midnight would be charged to one day, and what is measured on the next changes it as well. "
    'Write "24h", or a length of which a whole number makes a day.'
)


@dataclass(frozen=True, kw_only=True)
class ProtocolKeys:
    """What a protocol's own keys say; what it does not have is empty."""

    promise: Promise = "local-dp"
    slots: Slots | None = None
    window: int = 0
    layers: tuple[Fraction, ...] = ()
    epsilon2: Fraction = Fraction(0)
    outlier_width: Fraction | None = None
    detector: str = "beyond"
    outlier_share: Fraction | None = None


def read_protocol(section: Section, protocol: Protocol, core_radius: Fraction) -> ProtocolKeys:
    """Problems are noted in the section; the value is only good if there were none."""
    share = chance(section, "outlier_share")
    if protocol in {"alarm", "share"}:
        return ProtocolKeys(slots=_slots(section), layers=(core_radius,), outlier_share=share)
    window = section.whole("window", least=1, most=LONGEST_WINDOW) or 1
    if protocol == "code":
        epsilon = cost(section, "epsilon") or Fraction(1)
        return ProtocolKeys(window=window, layers=(core_radius,), epsilon2=epsilon)
    promise: Promise = section.choice("guarantee", ("local-dp", "metric-privacy")) or "local-dp"  # type: ignore[assignment]
    detector = section.text("detector") or "beyond"
    if protocol == "private":
        return ProtocolKeys(
            promise=promise,
            window=window,
            layers=_layers(section, core_radius),
            epsilon2=cost(section, "epsilon2") or Fraction(1),
            detector=detector,
            outlier_share=share,
        )
    if "trust" in section and section.raw["trust"] != TWO_SERVERS:
        section.refuse(
            "trust",
            "the paper's protocol rests on trust that the declaration must spell out.",
            f'If that is acceptable, write trust = "{TWO_SERVERS}"; otherwise choose another protocol.',
        )
    return ProtocolKeys(
        promise=promise,
        window=window,
        layers=(core_radius,),
        outlier_width=length(section, "outlier_width") or Fraction(1),
        detector=detector,
        outlier_share=share,
    )


def _slots(section: Section) -> Slots:
    period, slot = _duration(section, "period"), _duration(section, "slot")
    if slot is not None and slot < _SHORTEST:
        section.wrong("slot", "at least 50ms")
    elif period is not None and slot is not None and (period % slot or not 1 <= period / slot <= MOST_SLOTS):
        section.wrong("period", f"a whole number of slots, at most {MOST_SLOTS}")
    if period is not None and _DAY % period and period % _DAY:
        section.wrong("period", "a part of a day that ends with it, or whole days", ACROSS)
    period, slot = period or Fraction(1), slot or Fraction(1)
    return Slots(
        period=period,
        slot=slot,
        epsilon=cost(section, "epsilon") or Fraction(1),
        least_readings=section.whole("least_readings", least=1) or 1,
        false_alarms=chance(section, "false_alarms") or Fraction(0),
        live_share=_up_to_one(section, "live_share"),
    )


def _duration(section: Section, key: str) -> Fraction | None:
    written = section.raw.get(key)
    if written is None:
        return None
    match = _DURATION.fullmatch(written) if isinstance(written, str) else None
    if match is None or int(match[1]) == 0:
        section.wrong(key, 'a length of time, like "24h", "15m", "30s" or "500ms"')
        return None
    return int(match[1]) * _UNITS[match[2]]


def _layers(section: Section, core_radius: Fraction) -> tuple[Fraction, ...]:
    further = section.raw.get("layers", [])
    radii = [fraction(each) for each in further] if isinstance(further, list) else [None]
    whole = (core_radius, *(radius for radius in radii if radius is not None))
    if None in radii or any(outer <= inner for inner, outer in itertools.pairwise(whole)) or len(whole) > 15:
        section.wrong("layers", f"a list of at most 14 radii that grow outwards from the core's, {shown(core_radius)}")
        return (core_radius,)
    if whole[-1] > LONGEST:
        section.wrong("layers", f"a list of radii of at most {LONGEST_IN_WORDS}")
        return (core_radius,)
    return whole


def _up_to_one(section: Section, key: str) -> Fraction:
    share = section.number(key)
    if share is not None and not 0 <= share <= 1:
        section.wrong(key, "from 0 to 1")
        return Fraction(0)
    return share or Fraction(0)
