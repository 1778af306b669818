"""The demo of `stream`: medicine fridges of a made-up hospital network, which raise one blind alarm a day at most."""

from __future__ import annotations

from pathlib import Path

from wallflower.cli.stream_simulation import Simulated, run_simulation
from wallflower.demo.stage import Stage
from wallflower.noise.entropy import SystemEntropy
from wallflower.report.figures import Picture
from wallflower.report.story import Scene
from wallflower.stream.parser import load
from wallflower.stream.prices import price

DECLARATION = """\
[stream]
id = "fridges"
broker = "mqtt://localhost:1883"      # the demo runs in one process and needs no broker
topic_prefix = "alder/fridges"
roster = ["ward-1", "ward-2", "ward-3", "ward-4", "ward-5", "ward-6", "ward-7", "ward-8", "ward-9", "ward-10", "ward-11", "ward-12"]
protocol = "alarm"
period = "24h"                        # one promise covers a whole day
slot = "15m"                          # one message of the same size every quarter of an hour, whatever happens
epsilon = "4"                         # a day
false_alarms = "0.05"                 # of quiet days
live_share = "0.6"                    # of the alarm's chances, during the day; the rest in its last slot
least_readings = 3                    # beyond the core, in one slot
core_radius = "3"

[columns.temperature]
lower = -20
upper = 30
step = "0.01"
centre = 5
scale = 2

[columns.humidity]
lower = 0
upper = 100
step = "0.1"
centre = 50
scale = 4

[budget]
per_day = "4"
"""


def show(folder: Path, stage: Stage) -> Scene:
    """Two weeks of twelve sensors and an analyst, and a picture of what was said beside what happened."""
    path = folder / "fridges.toml"
    path.write_text(DECLARATION, encoding="utf-8")
    declared = load(path)
    asked = price(declared)
    drawn: list[Picture] = []
    setting = (
        "Fridges on twelve wards measure temperature and humidity all day. When a ward opens its fridge says when its people work, so "
        "no reading leaves: a fridge sends one blind message every quarter of an hour, and at most one alarm a day. An analyst wants to "
        "know which fridge misbehaved, and on which day."
    )
    stage.say(setting)
    facts = run_simulation(
        declared,
        Simulated(
            sensors=12, periods=14, per_slot=5, results=folder / "fridges.results", picture=folder / "fridges.html"
        ),
        entropy=SystemEntropy(),
        drawn=drawn,
    )
    truth, share = facts["truth"], facts["fleet_share"]
    lines = (
        (
            "asked",
            f"which of {facts['whole_periods']} fridge-days misbehaved? (made up: {truth['misbehaving_periods']} did)",
        ),
        ("expect", "; ".join(f"{name.replace('_', ' ')}: {text}" for name, text in asked.expected.items())),
        ("heard", f"{truth['alarms']} alarms, {truth['right']} of them right"),
        (
            "fleet",
            f"{share['estimate']:.2f} of fridge-days misbehave (95 %: {share['low']:.2f} to {share['high']:.2f})",
        ),
        ("promise", str(facts["promise"])),
        ("cost", asked.notes[0]),
    )
    stage.show(list(lines))
    return Scene(
        area="stream",
        title="Which fridge misbehaved, and on which day?",
        setting=setting,
        lines=lines,
        pictures=tuple(drawn),
    )
