"""From a declaration to the parties it describes."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from wallflower.detectors.base import PointDetector
from wallflower.detectors.centre import Centre
from wallflower.detectors.layers import LayerLikelihood
from wallflower.detectors.registry import detector as registered
from wallflower.detectors.two_state import TwoState
from wallflower.errors import DeclarationError, UsageError, WallflowerError
from wallflower.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from wallflower.stream.analyst import Analyst, CodeAnalyst, SlotAnalyst
from wallflower.stream.book import Book
from wallflower.stream.corrector import Corrector
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.messages import LARGEST
from wallflower.stream.outbox import Outbox
from wallflower.stream.promises import clock, guarantee, perturbation, response
from wallflower.stream.results import Results
from wallflower.stream.sensor import CodeSensor, Sensor
from wallflower.stream.slot_sensor import SlotSensor
from wallflower.stream.transport import Topics, Transport

MOST_LAYERS = 24
SMALL = 16_384
"""Bytes that every message may have, and that a request to subscribe to fifty topics fits into."""
AHEAD = 120.0
"""Seconds that a sensor's clock may be ahead of the analyst's."""


def centre(declared: StreamDeclaration) -> Centre:
    return Centre(
        steps=tuple(column.domain.step for column in declared.columns),
        centres=tuple(column.centre for column in declared.columns),
        scales=tuple(column.scale for column in declared.columns),
    )


def topics(declared: StreamDeclaration) -> Topics:
    return Topics(
        prefix=declared.topic_prefix,
        roster=declared.roster,
        partitions=declared.partitions,
        paper=declared.protocol == "paper",
    )


def sensor(declared: StreamDeclaration, name: str) -> Sensor | CodeSensor:
    """A sensor that speaks in windows."""
    if declared.protocol == "code":
        code = response(declared)
        if code is None:
            raise AssertionError("a code has a price.")
        return CodeSensor(
            stream=declared.fingerprint,
            name=name,
            response=code,
            domains=tuple(column.domain for column in declared.columns),
            centre=centre(declared),
            radius=float(declared.core_radius),
        )
    return Sensor(
        stream=declared.fingerprint,
        name=name,
        perturbation=perturbation(declared),
        response=response(declared),
        centre=centre(declared),
        radii=tuple(float(radius) for radius in declared.layers),
    )


def slot_sensor(declared: StreamDeclaration, name: str) -> SlotSensor:
    """A sensor that speaks by the clock."""
    slots = declared.slots
    if slots is None:
        raise AssertionError("this protocol speaks in windows.")
    return SlotSensor(
        stream=declared.fingerprint,
        name=name,
        mechanism=clock(declared),
        domains=tuple(column.domain for column in declared.columns),
        centre=centre(declared),
        radius=float(declared.core_radius),
        least_readings=slots.least_readings,
    )


def entropy(declared: StreamDeclaration, seed: int | None) -> Entropy:
    """The operating system's, or a seed's where the stream is a test."""
    if seed is None:
        return SystemEntropy()
    if not declared.test:
        raise UsageError(
            "a seed makes the noise predictable, and this stream is not a test.",
            hint="Leave --seed out, or write test = true in [stream] of a declaration for tests.",
        )
    return SeededEntropy(seed)


def book(declared: StreamDeclaration, name: str, path: Path | None) -> Book:
    return Book(
        path,
        sensor=name,
        stream=declared.fingerprint,
        family=guarantee(declared).family,
        epsilon=declared.event_epsilon,
        per_window=declared.budget.per_window,
        per_day=declared.budget.per_day,
        apart=declared.protocol == "paper",
    )


def outbox(
    declared: StreamDeclaration,
    party: Sensor | CodeSensor | SlotSensor,
    kept: Book,
    line: Transport,
    *,
    patience: float = 2.0,
    quota: float | None = None,
) -> Outbox:
    """What a sensor says through; `patience` is how long it waits for a receipt before it sends again."""
    return Outbox(
        name=party.name,
        settles=party.settles,
        book=kept,
        transport=line,
        topics=topics(declared),
        quota=declared.quota if quota is None else quota,
        patience=patience,
    )


def results(declared: StreamDeclaration, place: str | Path | None) -> Results:
    """Where the analyst keeps its decisions; noised readings beside them only where they are what was sent."""
    return Results(
        place,
        stream=f"{declared.id} {declared.fingerprint.hex()}",
        columns={column.name: float(column.domain.step) for column in declared.columns}
        if declared.protocol in {"private", "paper"}
        else {},
        facts={
            "guarantee": json.dumps(guarantee(declared).to_json()),
            "trust": declared.trust,
            "private": "no: test = true allows predictable noise" if declared.test else "yes",
        },
    )


def largest_message(declared: StreamDeclaration) -> int:
    """Bytes that no message of this stream exceeds: brokers and parties refuse longer ones unread."""
    if declared.slots is not None:
        return SMALL
    if declared.protocol == "code":
        return SMALL + declared.window // 8
    return min(LARGEST, SMALL + declared.window * (8 * len(declared.columns) + 8))


def analyst(
    declared: StreamDeclaration, detector_used: PointDetector | None = None, *, now: Callable[[], float] = time.time
) -> Analyst | CodeAnalyst | SlotAnalyst:
    """`detector_used` plugs in any other detector of scaled points; `now` is what the clock says, in seconds since 1970."""
    if declared.slots is not None:
        slot = declared.slots.slot
        return SlotAnalyst(stream=declared.fingerprint, latest=lambda: math.floor((now() + AHEAD) / slot))
    if declared.protocol == "code":
        keep = float(response(declared).likelihood()[0, 0])  # type: ignore[union-attr]
        return CodeAnalyst(stream=declared.fingerprint, decoder=TwoState(keep=keep), longest=declared.window)
    return Analyst(
        stream=declared.fingerprint,
        centre=centre(declared),
        detector=detector_used or detector(declared.detector, declared.core_radius),
        likelihood=likelihood(declared),
        longest=declared.window,
    )


def likelihood(declared: StreamDeclaration) -> LayerLikelihood | None:
    """The last layer is split by doubling radii: outliers may be anywhere from the core's edge to the bounds."""
    code = response(declared)
    if code is None:
        return None
    noise, middle = perturbation(declared), centre(declared)
    radii = list(declared.layers)
    reach = max(
        max(column.domain.upper - column.centre, column.centre - column.domain.lower) / column.scale
        for column in declared.columns
    )
    while 2 * radii[-1] < reach and len(radii) < MOST_LAYERS:
        radii.append(2 * radii[-1])
    said = code.likelihood()
    return LayerLikelihood(
        domains=tuple(column.domain for column in declared.columns),
        noise=tuple(float(column.scale) for column in noise.columns),
        answers=said[[min(place, code.layers - 1) for place in range(len(radii) + 1)]],
        centre=middle,
        radii=tuple(radii),
        share=declared.outlier_share,
    )


def corrector(declared: StreamDeclaration) -> Corrector:
    if declared.outlier_width is None:
        raise DeclarationError(
            f"stream '{declared.id}' speaks '{declared.protocol}', which has no corrector.",
            hint="Run the sensor and the analyst; nothing else is needed.",
        )
    return Corrector(stream=declared.fingerprint, outlier_width=float(declared.outlier_width))


def refuse_unknown_detector(declared: StreamDeclaration) -> None:
    """Where nothing is run yet: only an analyst needs the detector, and a sensor may be without the package that brings it."""
    if declared.protocol in {"private", "paper"}:
        detector(declared.detector, declared.core_radius)


def detector(text: str, core_radius: Fraction) -> PointDetector:
    """`dbscan(radius=0.5, least=5)`, or `beyond` / `beyond(radius=3)` for a plain distance; radii are in scaled units."""
    try:
        found: PointDetector = registered(text, verb="score", defaults={"beyond": {"radius": float(core_radius)}})
    except WallflowerError as error:
        raise DeclarationError(f"'detector' cannot be read: {error.message}", hint=error.hint) from None
    return found
