"""The demo of `stream`: medicine fridges of a made-up hospital network, noised before their readings leave."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from wallflower.cli.common import show_lines
from wallflower.cli.stream_simulation import run_simulation
from wallflower.noise.entropy import SystemEntropy
from wallflower.report.figures import Picture
from wallflower.report.story import Scene
from wallflower.stream import assembly
from wallflower.stream.parser import load

DECLARATION = """\
[stream]
id = "fridges"
broker = "mqtt://localhost:1883"      # the demo runs in one process and needs no broker
topic_prefix = "alder/fridges"
window = 1_000
protocol = "private"
guarantee = "local-dp"
core_radius = "3"
epsilon2 = "4"

[columns.temperature]
lower = -20
upper = 30
step = "0.01"
centre = 5
scale = 2
epsilon = "2"

[columns.humidity]
lower = 0
upper = 100
step = "0.1"
centre = 50
scale = 4
epsilon = "2"

[budget]
per_window = "8000"
per_day = "1000000"
"""


def show(folder: Path, console: Console) -> Scene:
    """Simulate three sensors and an analyst, and draw what was measured, received and decided."""
    path = folder / "fridges.toml"
    path.write_text(DECLARATION, encoding="utf-8")
    declared = load(path)
    price = assembly.price(declared)
    drawn: list[Picture] = []
    setting = (
        "Fridges on three wards report temperature and humidity. When a ward opens its fridge says when its people work, so every "
        "reading is noised at the sensor; an analyst looks for fridges that misbehave."
    )
    console.print(setting, highlight=False)
    facts = run_simulation(
        declared,
        data=None,
        sensors=3,
        readings=5_000,
        results=folder / "fridges.duckdb",
        parquet=None,
        picture=folder / "fridges.html",
        entropy=SystemEntropy(),
        drawn=drawn,
    )
    lines = (
        ("asked", f"which of {facts['readings']:,} readings lie beyond the core? (made up: about a tenth do)"),
        ("expect", "; ".join(f"{name}: {text}" for name, text in price.expected.items())),
        ("presumed", f"{facts['presumed']:,} from the noised readings alone"),
        ("decided", f"{facts['decided']:,} with the randomised bit"),
        ("promise", str(facts["promise"])),
        ("cost", price.notes[0]),
    )
    show_lines(list(lines))
    return Scene(
        area="stream",
        title="Which sensor readings misbehave?",
        setting=setting,
        lines=lines,
        pictures=tuple(drawn),
    )
