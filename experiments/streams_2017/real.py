"""Real sensors with labels: SKAB (a water loop) and the single-hop wireless sensor network.

Centres and scales are treated as public. SKAB: from the first 400 readings of each recording, which its own benchmark sets
aside for training, so that each recording is a stream of its own and only the rest is judged. WSN: round numbers. Bounds
are round numbers around what such sensors can show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq
from benchmarks.harness import data_folder

from wallflower.noise.entropy import SystemEntropy
from wallflower.stream import assembly
from wallflower.stream.parser import loads

HISTORY = 400
TOTALS = ("1", "2", "4", "8", "16", "32")


@dataclass(frozen=True)
class Sensors:
    """Labelled readings and the public things about them."""

    name: str
    columns: tuple[str, ...]
    bounds: tuple[tuple[str, str, str], ...]
    """Lower, upper and step of each column."""
    centre: tuple[str, ...]
    scale: tuple[str, ...]
    core_radius: str
    readings: np.ndarray
    labels: np.ndarray


def skab() -> list[Sensors]:
    table = pq.read_table(_file("skab.parquet")).to_pandas()
    columns = ("Accelerometer1RMS", "Volume Flow RateRMS")
    found = []
    for _, recording in table[table["anomaly"].notna()].groupby("file", sort=True):
        values = recording[list(columns)].to_numpy(dtype=float)
        history, rest = values[:HISTORY], slice(HISTORY, None)
        scale = np.maximum(history.std(axis=0), [0.001, 0.1])
        found.append(
            Sensors(
                name="SKAB",
                columns=columns,
                bounds=(("0", "1", "0.0001"), ("0", "150", "0.01")),
                centre=tuple(f"{value:.4f}" for value in history.mean(axis=0)),
                scale=tuple(f"{value:.4f}" for value in scale),
                core_radius="4",
                readings=values[rest],
                labels=recording["anomaly"].to_numpy(dtype=float)[rest] > 0,
            )
        )
    return found


def wsn() -> list[Sensors]:
    table = pq.read_table(_file("wsn_single_hop.parquet"))
    values = np.column_stack([table[name].to_numpy().astype(float) for name in ("humidity", "temperature")])
    whole = Sensors(
        name="WSN",
        columns=("humidity", "temperature"),
        bounds=(("0", "100", "0.01"), ("0", "60", "0.01")),
        centre=("45", "27.5"),
        scale=("5", "2"),
        core_radius="3",
        readings=values,
        labels=table["label"].to_numpy() > 0,
    )
    return [whole]


def rows(streams: list[Sensors]) -> list[str]:
    """Precision and recall against the event epsilon; the first row is the noise-free ceiling of the same rule."""
    name, labels = streams[0].name, np.concatenate([data.labels for data in streams])
    exact = np.concatenate([_exact(data) for data in streams])
    lines = [f"| {name} | no noise (ceiling) | none | {_said(exact, labels)} | – |"]
    for promise in ("local-dp", "metric-privacy"):
        for total in TOTALS:
            found = [_decided(data, total, promise) for data in streams]
            decided, presumed = (np.concatenate(parts) for parts in zip(*found, strict=True))
            lines.append(f"| {name} | {promise} | {total} | {_said(decided, labels)} | {_said(presumed, labels)} |")
    return lines


def _exact(data: Sensors) -> np.ndarray:
    stream = _stream(data, "1", "local-dp")
    numbers = assembly.sensor(stream, "s").quantise(data.readings)
    return assembly.centre(stream).distance(numbers) > float(data.core_radius)


def _decided(data: Sensors, total: str, promise: str) -> tuple[np.ndarray, np.ndarray]:
    stream = _stream(data, total, promise)
    sensor, analyst = assembly.sensor(stream, "s"), assembly.analyst(stream)
    readings = sensor.quantise(data.readings)
    noised, _ = sensor.say(readings, series=bytes(8), number=0, entropy=SystemEntropy())
    _, decision = analyst.receive(noised, bytes(16))
    return decision.decided, decision.presumed


def _said(found: np.ndarray, labels: np.ndarray) -> str:
    right = (found & labels).sum()
    precision = f"{right / found.sum():.1%}" if found.any() else "–"
    return f"{precision} / {right / labels.sum():.1%} ({found.mean():.1%})"


def _stream(data: Sensors, total: str, promise: str):
    text = f"""
[stream]
id = "{data.name}"
broker = "mqtt://localhost"
topic_prefix = "real"
roster = ["s"]
window = {len(data.readings)}
protocol = "private"
guarantee = "{promise}"
core_radius = "{data.core_radius}"
epsilon2 = "{total}/2"

[budget]
per_window = "1000000000"
per_day = "1000000000"
"""
    for name, (lower, upper, step), centre, scale in zip(
        data.columns, data.bounds, data.centre, data.scale, strict=True
    ):
        text += f"""
[columns."{name}"]
lower = "{lower}"
upper = "{upper}"
step = "{step}"
centre = "{centre}"
scale = "{scale}"
epsilon = "{total}/4"
"""
    return loads(text)


def _file(name: str):
    path = data_folder() / name
    if not path.is_file():
        raise SystemExit(
            f"{name} is not in {data_folder()}: set WALLFLOWER_DATA to the folder that holds the data sets"
        )
    return path
