"""What each party can say of a stream, by name: the analyst of what was decided, a sensor of what it spent, an operator of who was heard."""

from __future__ import annotations

import time
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from wallflower.schema.exact import shown
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.periods import summary
from wallflower.stream.release import released
from wallflower.stream.results import Results

if TYPE_CHECKING:
    from wallflower.stream.analyst_loop import AnalystLoop
    from wallflower.stream.book import Statement
    from wallflower.stream.mqtt import MqttTransport
    from wallflower.stream.sensor_process import SensorOutcome

MOST_ALARMS = 20
"""Alarms that are said to people; programs are given all of them."""
NOT_PRIVATE = "NO: a simulation, or a test stream whose noise may come from a seed"


def decided(declared: StreamDeclaration, kept: Results) -> dict[str, Any]:
    """What an analyst knows at the end: decisions, or alarms and the fleet's share."""
    if declared.slots is None:
        windows, readings, presumed, called = kept.totals()
        return {"windows": windows, "readings": readings, "presumed": presumed, "decided": called}
    found = summary(declared, kept.words())
    facts: dict[str, Any] = {"messages": kept.totals()[0], "periods": found.periods, "whole_periods": found.whole}
    if declared.protocol == "alarm":
        facts["alarms"] = [asdict(alarm) for alarm in found.alarms]
    if found.fleet is not None:
        facts["fleet_share"] = asdict(found.fleet)
    if found.hours:
        facts["by_time"] = {when: asdict(share) for when, share in found.hours}
    return facts


def concluded(declared: StreamDeclaration, kept: Results, loop: AnalystLoop, line: MqttTransport) -> dict[str, Any]:
    """What an analyst's process says at the end: what was decided, what did not count, and who seems to be two."""
    return {
        **decided(declared, kept),
        "dropped": dict(loop.dropped + loop.analyst.dropped + line.dropped),
        "cut_off": {topic.rsplit("/", 1)[1]: times for topic, times in line.cut_off.items()},
        "doubled": sorted(loop.doubled),
        "trust": declared.trust,
    }


def spent(
    declared: StreamDeclaration,
    name: str,
    statement: Statement,
    sent: SensorOutcome,
    *,
    private: bool,
    released_too: bool,
) -> dict[str, Any]:
    """What a sensor's book says at the end; with `released_too` also as a release."""
    in_windows = declared.slots is None
    unit = "windows" if in_windows else "periods"
    facts: dict[str, Any] = {
        "sensor": name,
        "protocol": declared.protocol,
        unit: statement.windows,
        **({"readings": statement.readings} if in_windows else sent.slots),
        "waiting_for_receipts": statement.waiting,
        epsilon_of_one(declared): shown(statement.event),
        "epsilon_today": shown(statement.today),
        "epsilon_ever": shown(statement.total),
        "sent_again": sent.outbox.resent,
        "dropped": dict(sent.outbox.dropped),
        "trust": declared.trust,
        "private": private,
    }
    if sent.note:
        facts["note"] = sent.note
    if released_too:
        facts |= released(
            declared,
            account=f"{declared.id}, sensor {name}",
            entry=statement.windows,
            today=statement.today,
            value={unit: statement.windows},
            private=private,
        )
    return facts


def epsilon_of_one(declared: StreamDeclaration) -> str:
    """What the ε of one charge is about, as a name."""
    return "epsilon_of_a_reading" if declared.slots is None else "epsilon_of_a_period"


def heard(declared: StreamDeclaration, kept: Results, *, quiet_after: float | None = None) -> dict[str, Any]:
    """Which sensors of the roster were heard, and which not for `quiet_after` seconds: two slots by default, or an hour."""
    last = kept.heard()
    slots, now = declared.slots, time.time()
    limit = quiet_after or (3600.0 if slots is None else 2 * float(slots.slot) + 60)
    silent = [name for name in declared.roster if name not in last or now - last[name][1] > limit]
    return {
        "sensors_on_the_roster": len(declared.roster),
        "sensors_heard": len(last),
        "not_heard_lately": silent,
        "strangers_in_the_results": sorted(set(last) - set(declared.roster)),
        "last_message": max(
            (datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds") for _, when in last.values()),
            default="never",
        ),
        "trust": declared.trust,
    }


def said(label: str, value: object) -> str:
    """A fact as a person reads it."""
    if label == "alarms" and isinstance(value, list):
        named = [f"{alarm['sensor']} by {alarm['at']}" for alarm in value[:MOST_ALARMS]]
        return (
            ", ".join(named) + (f", and {len(value) - MOST_ALARMS} more" if len(value) > MOST_ALARMS else "") or "none"
        )
    if isinstance(value, dict) and "estimate" in value:
        return f"{value['estimate']:.3f} (95 %: {value['low']:.3f} to {value['high']:.3f}, from {value['of']:,} sensor-periods)"
    if isinstance(value, dict):
        reasons = label == "dropped"  # other keys may be names that somebody chose
        shown_as = {kind: kind.replace("_", " ") if reasons else kind for kind in value}
        return ", ".join(f"{shown_as[kind]}: {said('', count)}" for kind, count in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else NOT_PRIVATE if label == "private" else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
