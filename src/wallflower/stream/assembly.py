"""From a declaration to the parties it describes, and to the promise it makes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from wallflower.detectors.base import PointDetector
from wallflower.detectors.centre import Centre
from wallflower.detectors.layers import LayerLikelihood
from wallflower.detectors.registry import detector as registered
from wallflower.errors import DeclarationError, WallflowerError
from wallflower.mechanisms.layer import LayerResponse
from wallflower.mechanisms.perturbation import NoisyColumn, Perturbation
from wallflower.privacy.guarantees import LocalDP, MetricPrivacy, factor
from wallflower.privacy.price import Price
from wallflower.schema.exact import shown
from wallflower.stream.analyst import Analyst
from wallflower.stream.book import Book
from wallflower.stream.corrector import Corrector
from wallflower.stream.declaration import TWO_SERVERS, StreamDeclaration
from wallflower.stream.sensor import Sensor

MOST_LAYERS = 24


def perturbation(declared: StreamDeclaration) -> Perturbation:
    """Noise by the bounds under local-dp, by the core under metric-privacy."""
    return Perturbation(
        columns=tuple(
            NoisyColumn(
                domain=column.domain,
                epsilon=column.epsilon,
                width=column.domain.upper - column.domain.lower
                if declared.promise == "local-dp"
                else column.core_width,
            )
            for column in declared.columns
        )
    )


def response(declared: StreamDeclaration) -> LayerResponse | None:
    if declared.protocol == "paper":
        return None
    return LayerResponse(epsilon=declared.epsilon2, layers=len(declared.layers) + 1)


@dataclass(frozen=True, kw_only=True)
class PaperLocalDP(LocalDP):
    """What is left of local-dp under the paper's protocol: a promise about the analyst's first message alone."""

    @property
    def sentence(self) -> str:
        return (
            f"Trust: {TWO_SERVERS}. The noised reading that the analyst receives is at most {factor(self.epsilon)} times as likely "
            f"as it would be for any other reading. {_NOT_PROMISED}"
        )


@dataclass(frozen=True, kw_only=True)
class PaperMetricPrivacy(MetricPrivacy):
    """The same for metric-privacy."""

    @property
    def sentence(self) -> str:
        return (
            f"Trust: {TWO_SERVERS}. From the noised readings that the analyst receives, two readings inside the declared core range "
            f"can be told apart by at most a factor {factor(self.epsilon)} in likelihood, and readings up to D core ranges apart "
            f"in a column (D at least 1) by at most e^({shown(self.epsilon)}·D). {_NOT_PROMISED}"
        )


_NOT_PROMISED = (
    "Nothing is promised towards the corrector, nothing towards both servers together, who can compute every reading's distance "
    "from the centre, and the corrector's threshold tells the analyst one of these distances."
)


def guarantee(declared: StreamDeclaration) -> LocalDP | MetricPrivacy:
    """What one reading is promised. Under `paper` it says towards whom there is no promise."""
    local = declared.promise == "local-dp"
    if declared.protocol == "paper":
        kind: type[LocalDP | MetricPrivacy] = PaperLocalDP if local else PaperMetricPrivacy
        protected = "every reading, towards the analyst alone, before the corrector answers"
        return kind(epsilon=declared.event_epsilon, holds_when=TWO_SERVERS, protects=protected)
    if local:
        return LocalDP(epsilon=declared.event_epsilon)
    extra = f", and by {shown(declared.epsilon2)} more between different layers"
    return MetricPrivacy(
        epsilon=declared.event_epsilon,
        protects=f"every reading, the less the further apart the two compared are{extra}",
    )


def price(declared: StreamDeclaration) -> Price:
    """What a reading, a window and a day cost, before any reading is taken."""
    noise = perturbation(declared)
    columns = {
        f"noise of {column.name}": f"{float(noisy.scale * noisy.domain.step):.6g}, its mean size, in the column's units"
        for column, noisy in zip(declared.columns, noise.columns, strict=True)
    }
    flip = {}
    code = response(declared)
    if code is not None:
        flip = {"codes that are kept": f"{code.likelihood()[0, 0]:.1%}"}
    event = shown(declared.event_epsilon)
    most = int(declared.budget.per_day / declared.event_epsilon)
    apart = " between readings one core range apart" if declared.promise == "metric-privacy" else ""
    levels = (
        f"Event level: one reading loses at most {event}{apart}. User level: a person behind every reading of a window loses "
        f"at most {shown(declared.window_epsilon)}, and of a day {shown(declared.budget.per_day)} (at most {most} readings a "
        "day); days add up."
    )
    notes = [levels]
    if declared.protocol == "paper":
        notes.append(f"Trust: {TWO_SERVERS}.")
        notes.append("Analyst and corrector together can compute every reading's distance from the centre exactly.")
    else:
        notes.append("No corrector runs, and the promise holds against everyone who sees everything that is sent.")
    if declared.promise == "metric-privacy":
        notes.append(
            "Over the whole declared range a reading loses at most "
            f"{shown(noise.local().epsilon + declared.epsilon2)}: a far outlier is recognisable as one."
        )
    return Price(
        guarantee=guarantee(declared),
        mechanism={"name": "perturbation at the source", "protocol": declared.protocol, "epsilon per reading": event},
        settings={
            "window": str(declared.window),
            "core radius": shown(declared.core_radius),
            "detector": declared.detector,
            "layers": ", ".join(shown(radius) for radius in declared.layers),
        },
        expected={**columns, **flip},
        notes=tuple(notes),
    )


def centre(declared: StreamDeclaration) -> Centre:
    return Centre(
        steps=tuple(column.domain.step for column in declared.columns),
        centres=tuple(column.centre for column in declared.columns),
        scales=tuple(column.scale for column in declared.columns),
    )


def sensor(declared: StreamDeclaration, name: str) -> Sensor:
    return Sensor(
        stream=declared.fingerprint,
        name=name,
        perturbation=perturbation(declared),
        response=response(declared),
        centre=centre(declared),
        radii=tuple(float(radius) for radius in declared.layers),
    )


def book(declared: StreamDeclaration, name: str, path: Path | None) -> Book:
    return Book(
        path,
        sensor=name,
        stream=declared.fingerprint,
        family=guarantee(declared).family,
        epsilon=declared.event_epsilon,
        per_window=declared.budget.per_window,
        per_day=declared.budget.per_day,
    )


def analyst(declared: StreamDeclaration, detector_used: PointDetector | None = None) -> Analyst:
    """`detector_used` plugs in any other detector of scaled points."""
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
            f"stream '{declared.id}' uses the private protocol, which has no corrector.",
            hint="Run the sensor and the analyst; nothing else is needed.",
        )
    return Corrector(stream=declared.fingerprint, outlier_width=float(declared.outlier_width))


def detector(text: str, core_radius: Fraction) -> PointDetector:
    """`dbscan(radius=0.5, least=5)`, or `beyond` / `beyond(radius=3)` for a plain distance; radii are in scaled units."""
    try:
        found: PointDetector = registered(text, verb="score", defaults={"beyond": {"radius": float(core_radius)}})
    except WallflowerError as error:
        raise DeclarationError(f"'detector' cannot be read: {error.message}", hint=error.hint) from None
    return found
