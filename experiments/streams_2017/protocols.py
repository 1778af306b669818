"""What `code`, `private`, `alarm` and `share` find on real sensors, beside what any private test could find.

`python -m experiments.streams_2017.protocols` writes the section "Protocols" of RESULTS.md and its pictures (about two minutes); `--quick` prints a
tenth of it. Centres, scales and radii are round numbers about what such sensors show, and treated as public.
"""

from __future__ import annotations

import argparse
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from benchmarks.harness import data_folder

from experiments.streams_2017.real import _file
from wallflower.mechanisms.alarm_clock import AlarmClock
from wallflower.mechanisms.sampled_slot import SampledSlot
from wallflower.noise.entropy import SystemEntropy
from wallflower.report.figures import BLUE, MUTED, ORANGE, SERIES, Picture, draw
from wallflower.stream import assembly, fleet
from wallflower.stream.parser import loads

HERE = Path(__file__).parent
EPSILONS = ("0.5", "1", "2", "4")
DAYS = ("1", "2", "4", "6", "8")
WINDOW = 1000
SLOTS, PER_SLOT, LEAST = 24, 10, 3


@dataclass(frozen=True)
class Stream:
    """One real sensor and the public things about it."""

    name: str
    columns: tuple[tuple[str, str, str, str, str, str], ...]
    """Of each column: name, lower, upper, step, centre, scale."""
    radius: str
    readings: np.ndarray
    long: bool
    """Whether its episodes are long."""


def streams() -> list[Stream]:
    if not data_folder():
        raise SystemExit("the data folder is missing")
    table = pq.read_table(_file("skab.parquet")).to_pandas()
    table = table[table["anomaly"].notna()]

    def skab(group: str, column: str) -> np.ndarray:
        return table[table["file"].str.startswith(group)][[column]].to_numpy(dtype=float)

    wsn = pq.read_table(_file("wsn_single_hop.parquet")).to_pandas()

    def mote(number: int) -> np.ndarray:
        return wsn[wsn["mote_id"] == number][["humidity", "temperature"]].to_numpy(dtype=float)

    rooms = (("humidity", "0", "100", "0.01", "45", "5"), ("temperature", "0", "60", "0.01", "27.5", "2"))
    flow = (("flow", "0", "200", "0.01", "126", "1"),)
    found = [
        Stream("SKAB flow", flow, "10", skab("other", "Volume Flow RateRMS"), long=True),
        Stream("SKAB temperature", (("temperature", "0", "150", "0.01", "70", "1"),), "4", skab("valve1", "Temperature"), long=True),
        Stream("WSN mote 1", rooms, "1.5", mote(1), long=True),
        Stream("WSN mote 4", rooms, "1.5", mote(4), long=True),
        Stream("SKAB valve flow (short)", (("flow", "0", "200", "0.01", "32", "1"),), "1.5", skab("valve1", "Volume Flow RateRMS"), long=False),
    ]  # fmt: skip
    shuffled = np.random.default_rng(0).permutation(found[0].readings)
    return [*found, Stream("SKAB flow, time-shuffled", flow, "10", shuffled, long=False)]


def declared(stream: Stream, own: str, column: str = ""):
    text = f"""
[stream]
id = "real"
broker = "mqtt://localhost"
topic_prefix = "real"
roster = ["s"]
core_radius = "{stream.radius}"
{own}
[budget]
per_window = "1000000000"
per_day = "1000000000"
"""
    for name, lower, upper, step, centre, scale in stream.columns:
        text += f"""
[columns.{name}]
lower = {lower}
upper = {upper}
step = "{step}"
centre = "{centre}"
scale = "{scale}"
{column}
"""
    return loads(text)


def truth(stream: Stream) -> np.ndarray:
    plan = declared(stream, 'protocol = "code"\nwindow = 1000\nepsilon = "1"')
    sensor = assembly.sensor(plan, "s")
    return assembly.centre(plan).distance(sensor.quantise(stream.readings)) > float(plan.core_radius)


def decided(stream: Stream, own: str, column: str = "") -> np.ndarray:
    """Window by window through the library's own parties."""
    plan = declared(stream, own, column)
    sensor, analyst = assembly.sensor(plan, "s"), assembly.analyst(plan)
    numbers, found = sensor.quantise(stream.readings), []
    for place, start in enumerate(range(0, len(numbers), WINDOW)):
        said, _ = sensor.say(numbers[start : start + WINDOW], series=bytes(8), number=place, entropy=SystemEntropy())
        _, decision = analyst.receive(said, bytes(16))
        found.append(decision.decided)
    return np.concatenate(found)


def f1(found: np.ndarray, right: np.ndarray) -> float:
    return float(2 * (found & right).sum() / max(found.sum() + right.sum(), 1))


def codes(runs: int) -> tuple[list[str], dict[str, list[float]], list[str]]:
    """F1 of `code` and of `private` with half on the bit, at the same ε a reading."""
    lines, drawn, prices = [], {}, []
    for stream in streams():
        right = truth(stream)
        episodes = int((np.diff(np.r_[0, right.astype(int)]) == 1).sum())
        cells, medians = [], []
        for epsilon in EPSILONS:
            own = f'protocol = "code"\nwindow = {WINDOW}\nepsilon = "{epsilon}"'
            by_code = [f1(decided(stream, own), right) for _ in range(runs)]
            each = Fraction(epsilon) / 2
            column = f'epsilon = "{each / len(stream.columns)}"'
            half = f'protocol = "private"\nwindow = {WINDOW}\nguarantee = "local-dp"\nepsilon2 = "{each}"'
            by_private = [f1(decided(stream, half, column), right) for _ in range(max(1, runs // 3))]
            cells.append(f"{np.mean(by_code):.2f} ({np.mean(by_private):.2f})")
            medians.append(float(np.mean(by_code)))
        lines.append(
            f"| {stream.name} | {right.mean():.1%}, {right.sum() / max(episodes, 1):.0f} | {' | '.join(cells)} |"
        )
        print(lines[-1], flush=True)
        drawn[stream.name] = medians
        if stream.long:
            plan = declared(
                stream,
                f'protocol = "private"\nwindow = {WINDOW}\nguarantee = "local-dp"\nepsilon2 = "4"',
                f'epsilon = "{Fraction(4, len(stream.columns))}"',
            )
            prices.append(f"{stream.name}: {float(plan.event_epsilon):.3f} instead of 8")
    return lines, drawn, prices


def sensor_days(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Real days: `SLOTS` slots of `PER_SLOT` consecutive readings; a quarter of them misbehave. Latched states and onsets."""
    rng = np.random.default_rng(1)
    loud, calm = [], []
    for stream in (each for each in streams() if each.long):
        right, size = truth(stream), SLOTS * PER_SLOT
        for start in range(0, len(right) - size, 40):
            states = right[start : start + size].reshape(SLOTS, PER_SLOT).sum(axis=1) >= LEAST
            (loud if states.any() else calm).append(np.maximum.accumulate(states))
    quarter = count // 4
    chosen = [loud[place] for place in rng.integers(len(loud), size=quarter)]
    chosen += [calm[place] for place in rng.integers(len(calm), size=count - quarter)]
    states = np.array(chosen)
    return states, np.where(states.any(axis=1), states.argmax(axis=1), SLOTS)


def alarms(count: int) -> tuple[list[str], dict[str, list[tuple[float, float]]]]:
    states, onset = sensor_days(count)
    loud = onset < SLOTS
    lines, drawn = [], {"precision": [], "recall": [], "F1": [], "ceiling of F1": []}
    for epsilon in DAYS:
        ratio = AlarmClock(
            epsilon=Fraction(epsilon), false_alarms=Fraction(1, 2), live_share=Fraction(0), slots=1
        ).ratio
        for name, false, live in (
            ("alarm", Fraction(1, 20), Fraction(3, 5)),
            ("day bit", 1 / (1 + ratio), Fraction(0)),
        ):
            clock = AlarmClock(epsilon=Fraction(epsilon), false_alarms=false, live_share=live, slots=SLOTS)
            when = np.array([_drawn(clock, day) for day in states])
            said = when < SLOTS
            recall, right = float(said[loud].mean()), float((said & loud).sum())
            precision = right / max(float(said.sum()), 1)
            score = 2 * right / float(said.sum() + loud.sum())
            ceiling = fleet.ceiling_f1(float(epsilon), float(loud.mean()))
            late = when[loud & said] - onset[loud & said]
            delay = f"{np.median(late):.0f} h" if name == "alarm" else "at the day's end"
            early = float((when[loud] < SLOTS - 1).mean())
            expected = (
                float(clock.recall(SLOTS - 1)),
                fleet.precision(0.25, float(clock.recall(SLOTS - 1)), float(false)),
            )
            lines.append(
                f"| {epsilon} | {name} | {precision:.2f} ({expected[1]:.2f}) | {recall:.2f} ({expected[0]:.2f}) | {early:.2f} | {delay} "
                f"| {score:.2f} | {ceiling:.2f} |"
            )
            print(lines[-1], flush=True)
            slack = 4 * math.sqrt(0.25 / count)
            if score > ceiling + slack:
                raise SystemExit(f"a measured F1 of {score:.3f} beats the ceiling {ceiling:.3f}: something is wrong")
            if name == "alarm":
                for key, value in zip(drawn, (precision, recall, score, ceiling), strict=True):
                    drawn[key].append((float(epsilon), value))
    return lines, drawn


def _drawn(clock: AlarmClock, states: np.ndarray) -> int:
    rest, entropy = clock.whole, SystemEntropy()
    for slot, loud in enumerate(states):
        alarmed, rest = clock.draw(slot, rest, misbehaves=bool(loud), entropy=entropy)
        if alarmed:
            return slot
    return SLOTS


def shares(rounds: int) -> list[str]:
    """The fleet's share at truth 0.1: its half-width, and how often its interval holds the truth."""
    lines = []
    rng = np.random.default_rng(2)
    for sensors in (100, 1_000, 10_000):
        cells = []
        for epsilon in ("1", "2", "4", "8"):
            flip = SampledSlot(epsilon=Fraction(epsilon), slots=1).flip
            held, widths = 0, []
            for _ in range(rounds):
                said = rng.random(sensors) < np.where(rng.random(sensors) < 0.1, 1 - flip, flip)
                found = fleet.share(int(said.sum()), sensors, hit=(1 - flip, 1 - flip), false=flip)
                held += found.low <= 0.1 <= found.high
                widths.append((found.high - found.low) / 2)
            cells.append(f"± {np.mean(widths):.3f} ({held / rounds:.1%})")
        lines.append(f"| {sensors:,} | {' | '.join(cells)} |")
    return lines


def pictures(by_code: dict[str, list[float]], by_day: dict[str, list[tuple[float, float]]]) -> dict[str, Picture]:
    def code(axes) -> None:
        for colour, (name, values) in zip(SERIES, by_code.items(), strict=False):
            axes.plot([float(e) for e in EPSILONS], values, marker="o", color=colour, label=name)
        axes.set_ylim(-0.03, 1.03)
        axes.legend(fontsize=8)

    def days(axes) -> None:
        for (name, points), colour in zip(by_day.items(), (BLUE, ORANGE, SERIES[2], MUTED), strict=True):
            axes.plot(
                *zip(*points, strict=True),
                marker="o",
                color=colour,
                label=name,
                linestyle="--" if "ceiling" in name else "-",
            )
        axes.set_ylim(0, 1.03)
        axes.legend(fontsize=8)

    return {
        "code.svg": draw(
            code, x="ε a reading", y="F1", caption="", alt="F1 of decoded readings on six streams, by ε a reading."
        ),
        "alarm.svg": draw(
            days,
            x="ε a day",
            y="",
            caption="",
            alt="Precision, recall and F1 of alarms by ε a day, with the ceiling of F1.",
        ),
    }


def section(codes_found, days_found, shares_found, prices, *, runs: int, count: int) -> str:
    return f"""## Protocols

Written by `python -m experiments.streams_2017.protocols`: {runs} runs of each stream, {count:,} sensor-days; noise from the operating system, decisions by the library's own parties.

### `code`: readings of an episode

F1 against the true bits, all of ε on the bit and decoded by the two-state model; in brackets `private` at the same ε, half of it on the bit. The decoder is also the attack: what it finds at "ε = 1 a reading" is what event level does not hide.

| stream | beyond the core, mean length of an episode | {" | ".join(f"ε = {e}" for e in EPSILONS)} |
|---|---|---|---|---|---|
{chr(10).join(codes_found)}

![F1 by ε a reading](pictures/code.svg)

What a reading of `private` really costs at Σ ε = 4 and ε₂ = 4: {"; ".join(prices)}.

### `alarm`: which sensor-days misbehave

Days of {SLOTS} slots with {PER_SLOT} real readings each from the four streams with long episodes, a quarter of them misbehaving (a slot does with {LEAST} readings beyond the core). In brackets what public numbers promise beforehand for the latest onset; days that misbehave earlier are found more often. F = 0.05 and 60 % live; the day bit is randomised response at the day's end.
*Early* is the share of misbehaving days that alarm before the last slot. The ceiling is the best F1 that any ε-private test of a day can have: max(2πp/(π + πp + (1 − π)(1 − p)), 2π/(1 + π)), p = e^ε/(1 + e^ε).

| ε a day | | precision | recall | early | median delay | F1 | ceiling |
|---|---|---|---|---|---|---|---|
{chr(10).join(days_found)}

![Precision and recall by ε a day](pictures/alarm.svg)

### `share`: the fleet's share

Half-width of the 95 % interval at a true share of 0.1, and how often the interval held it.

| sensors | ε = 1 | ε = 2 | ε = 4 | ε = 8 |
|---|---|---|---|---|
{chr(10).join(shares_found)}
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.streams_2017.protocols")
    parser.add_argument("--quick", action="store_true")
    repeat(quick=parser.parse_args().quick)


def repeat(*, quick: bool) -> None:
    """All of it; without `quick` the section and its pictures are written."""
    runs, count = (2, 800) if quick else (9, 8_000)
    code_lines, by_code, prices = codes(runs)
    day_lines, by_day = alarms(count)
    share_lines = shares(200 if quick else 2_000)
    print(*share_lines, sep="\n")
    if quick:
        return
    text = section(code_lines, day_lines, share_lines, prices, runs=runs, count=count)
    path = HERE / "RESULTS.md"
    before = re.split(r"^## Protocols$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[0].rstrip()
    path.write_text(f"{before}\n\n{text}", encoding="utf-8")
    (HERE / "pictures").mkdir(exist_ok=True)
    for name, picture in pictures(by_code, by_day).items():
        head = '<svg xmlns="http://www.w3.org/2000/svg" '
        svg = picture.svg if "xmlns=" in picture.svg[:200] else picture.svg.replace("<svg ", head, 1)
        (HERE / "pictures" / name).write_text(svg + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
