"""The demo of `stream`: medicine fridges of a made-up hospital network, which raise one blind alarm a day at most."""

from __future__ import annotations

from pathlib import Path

from wallflower.atomic_file import write_whole
from wallflower.demo.stage import Stage
from wallflower.noise.entropy import SystemEntropy
from wallflower.privacy.guarantee import factor
from wallflower.progress import report
from wallflower.report.certificate import certificate_page
from wallflower.report.story import Scene
from wallflower.report.stream import write_fleet_page
from wallflower.stream.parser import load
from wallflower.stream.prices import price
from wallflower.stream.release import released
from wallflower.stream.simulated_fleet import SimulatedFleet, SimulationPlan

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
    setting = (
        "Fridges on twelve wards measure temperature and humidity all day. When a ward opens its fridge says when its people work, so "
        "no reading leaves: a fridge sends one blind message every quarter of an hour, and at most one alarm a day. An analyst wants to "
        "know which fridge misbehaved, and on which day."
    )
    stage.say(setting)
    fleet = SimulatedFleet(
        declared, SimulationPlan(sensors=12, periods=14, per_slot=5, results=folder / "fridges.results")
    )
    try:
        with stage.watched():
            facts = fleet.run(
                SystemEntropy(), lambda tally, _speed: report("readings", tally.readings, fleet.total or tally.readings)
            )
        drawn = write_fleet_page(folder / "fridges.html", fleet, facts)
    finally:
        fleet.close()
    truth, share = facts["truth"], facts["fleet_share"]
    left = (
        ("asked", f"which of {facts['whole_periods']} fridge-days misbehaved?"),
        ("expect", "; ".join(f"{name.replace('_', ' ')}: {text}" for name, text in asked.expected.items())),
        ("heard", f"{truth['alarms']} alarms"),
        (
            "fleet",
            f"{share['estimate']:.2f} of fridge-days misbehave (95 %: {share['low']:.2f} to {share['high']:.2f})",
        ),
        ("promise", str(facts["promise"])),
        ("cost", asked.notes[0]),
    )
    stayed = (
        ("misbehaved", f"{truth['misbehaving_periods']} of {facts['whole_periods']} fridge-days, as they were made up"),
        ("right", f"{truth['right']} of the {truth['alarms']} alarms"),
    )
    stage.show([*left, *stayed])
    a_day = declared.event_epsilon
    paper = released(
        declared,
        account=f"{declared.id}, sensor {declared.roster[0]}",
        entry=1,
        today=a_day,
        value={"days": 1},
        private=True,
    )
    write_whole(folder / "certificate.html", certificate_page(paper))
    return Scene(
        area="stream",
        title="Which fridge misbehaved, and on which day?",
        setting=setting,
        sentence=(
            f"{truth['alarms']} alarms were heard in {facts['whole_periods']} fridge-days; {share['estimate']:.0%} of days misbehave "
            f"(95 %: {share['low']:.0%} to {share['high']:.0%})."
        ),
        promised=(
            "To the people of every ward, signed by each fridge every day: whatever happened all day, all that the fridge sends is at most "
            f"{factor(a_day)} times as likely as for any other day, whoever sees it. K days together: K times the exponent."
        ),
        left=left,
        stayed=stayed,
        pictures=tuple(drawn),
        papers=(
            ("certificate of one fridge and day", f"{folder.name}/certificate.html"),
            ("owner's page, NOT PRIVATE", f"{folder.name}/fridges.html"),
        ),
        spent={"local-dp, a fridge and day": (a_day, declared.budget.per_day)},
    )
