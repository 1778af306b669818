"""A first declaration of a stream, from a file of readings: names and formats filled in, every bound and budget left open."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from wallflower.schema.first_draft import NOT_FROM_ROWS, Described
from wallflower.schema.toml_text import header_text, quoted


def stream_draft(data: Path, columns: Iterable[Described], *, only: tuple[str, ...] = ()) -> str:
    """For the alarm protocol: one bit in a slot, one promise for a whole period."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", data.stem).strip("-._")[:64] or "stream"
    described = list(columns)
    measured = [each.name for each in described if each.kind in {"integer", "real"} and each.name.strip()]
    chosen = [each for each in only or measured[:2] if each]
    lines = [
        f"# A draft of a stream of readings like those of {quoted(data.name)}. Every line marked DECIDE waits for you. Answer from public",
        "# knowledge: a data sheet, a regulation. A bound that was read off readings would give them away.",
        "",
        "[stream]",
        f'id = "{name}"',
        'broker = "mqtt://localhost:1883"  # DECIDE: where the broker is; mqtts:// with ca = "ca.pem" off your own machine',
        f'topic_prefix = "{name}"',
        'roster = "roster.txt"  # DECIDE: the sensors that are listened to, one name a line, or a list',
        'protocol = "alarm"',
        'period = "24h"',
        'slot = "15m"',
        'epsilon =  # DECIDE: what a period may cost a person behind a sensor, in quotes, such as "4"',
        'false_alarms = "0.05"  # DECIDE: how often a quiet period may raise an alarm',
        'live_share = "0.6"',
        "least_readings = 3",
        'core_radius = "3"  # DECIDE: what lies further out, in scaled units, is what you look for',
        "test = false",
    ]
    for column in chosen:
        lines += [
            "",
            header_text(("columns", column)),
            f"lower =  # {NOT_FROM_ROWS}; such as -20",
            f"upper =  # {NOT_FROM_ROWS}; such as 30",
            'step = "0.01"',
            f"centre =  # {NOT_FROM_ROWS}; what is normal, such as 5",
            "scale = 1",
        ]
    lines += [
        "",
        "[budget]",
        'per_day =  # DECIDE: the most that a day may cost a person behind a sensor, in quotes, such as "4"',
    ]
    return "\n".join(lines) + "\n"
