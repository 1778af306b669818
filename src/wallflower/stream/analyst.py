"""The analyst: decides which readings misbehave from what the sensors said, and from nothing else.

It knows messages and nothing else of `stream`. Whatever it computes is post-processing of noised readings, except that
under the paper's protocol the corrector's threshold tells it a true radius.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.base import PointDetector
from wallflower.detectors.centre import Centre
from wallflower.detectors.layers import LayerLikelihood
from wallflower.detectors.two_state import TwoState
from wallflower.stream.messages import (
    Candidates,
    Codes,
    Corrected,
    Message,
    Noised,
    Presumed,
    Receipt,
    Threshold,
    Tick,
    Window,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision:
    """The result for one window."""

    window: Window
    digest: bytes
    readings: NDArray[np.int64]
    codes: NDArray[np.uint8] | None
    presumed: NDArray[np.bool_]
    decided: NDArray[np.bool_]
    probability: NDArray[np.float64] | None
    """Under `private`, the posterior probability of lying beyond the core."""

    def receipt(self) -> Receipt:
        """To be sent once this decision is on disk, and not before."""
        return Receipt(window=self.window, digest=self.digest)


@dataclass
class Analyst:
    """Takes messages, gives messages and decisions. With a `likelihood` it speaks `private`, without one `paper`."""

    stream: bytes
    centre: Centre
    detector: PointDetector
    likelihood: LayerLikelihood | None
    longest: int
    """Readings in a full window; a longer one is no message of this stream."""
    most_open: int = 256
    """Windows that wait for the corrector; beyond this the oldest is forgotten and the sensor sends it again."""
    dropped: Counter[str] = field(default_factory=Counter)
    _open: OrderedDict[tuple[str, str, int], tuple[Noised, bytes, NDArray[np.bool_]]] = field(
        default_factory=OrderedDict
    )

    def receive(self, message: Message, digest: bytes) -> tuple[list[Message], Decision | None]:
        """What to say next, and the decision if this message completes one. `digest` is of the message's bytes."""
        if message.window.stream != self.stream or not self._expected(message):
            self.dropped["foreign"] += 1
            return [], None
        if isinstance(message, Noised):
            return self._noised(message, digest)
        known = self._open.get(message.window.key)
        if known is None:  # decided long ago, or forgotten: the sensor's resend starts it anew
            self.dropped["unasked"] += 1
            return [], None
        noised, noised_digest, presumed = known
        if isinstance(message, Threshold):
            distance = self.centre.distance(noised.readings)
            return [
                Candidates(
                    window=message.window,
                    second=~presumed & (distance >= message.inner),
                    third=~presumed & (distance >= message.outer),
                )
            ], None
        if isinstance(message, Corrected) and len(message.true_positives) == len(presumed):
            del self._open[message.window.key]
            return [], _decision(noised, noised_digest, presumed, message.outliers, None)
        self.dropped["foreign"] += 1
        return [], None

    def _expected(self, message: Message) -> bool:
        if not isinstance(message, Noised):
            return self.likelihood is None and isinstance(message, Threshold | Corrected)
        layers = 0 if self.likelihood is None else self.likelihood.answers.shape[1]
        count, columns = message.readings.shape
        return columns == len(self.centre.steps) and count <= self.longest and message.layers == layers

    def _noised(self, message: Noised, digest: bytes) -> tuple[list[Message], Decision | None]:
        presumed = self.detector.score(self.centre.points(message.readings)) > 0
        if self.likelihood is None:
            self._open[message.window.key] = message, digest, presumed
            while len(self._open) > self.most_open:
                self._open.popitem(last=False)
            return [Presumed(window=message.window, outliers=presumed)], None
        codes = np.zeros(len(presumed), dtype=np.int64) if message.codes is None else message.codes.astype(np.int64)
        probability = self.likelihood.posterior(message.readings, codes)
        return [], _decision(message, digest, presumed, probability > 0.5, probability)


@dataclass
class CodeAnalyst:
    """Speaks `code`: decodes each sensor's bits by what its earlier windows taught about how long episodes last."""

    stream: bytes
    decoder: TwoState
    """Where every sensor's decoder starts from."""
    longest: int
    dropped: Counter[str] = field(default_factory=Counter)
    _decoders: dict[tuple[str, bytes], TwoState] = field(default_factory=dict)

    def receive(self, message: Message, digest: bytes) -> tuple[list[Message], Decision | None]:
        of_this = message.window.stream == self.stream and isinstance(message, Codes)
        if not of_this or not isinstance(message, Codes) or len(message.beyond) > self.longest:
            self.dropped["foreign"] += 1
            return [], None
        whose = message.window.sensor, message.window.series
        probability, self._decoders[whose] = self._decoders.get(whose, self.decoder).decode(message.beyond)
        return [], Decision(
            window=message.window,
            digest=digest,
            readings=np.empty((len(message.beyond), 0), dtype=np.int64),
            codes=message.beyond.astype(np.uint8),
            presumed=message.beyond,
            decided=probability > 0.5,
            probability=probability,
        )


@dataclass
class SlotAnalyst:
    """Speaks `alarm` and `share`: a message is one slot's word, and the word is the decision."""

    stream: bytes
    latest: Callable[[], int]
    """The newest slot that can have ended; a message about a later one is no message of an honest clock."""
    dropped: Counter[str] = field(default_factory=Counter)

    def receive(self, message: Message, digest: bytes) -> tuple[list[Message], Decision | None]:
        if message.window.stream != self.stream or not isinstance(message, Tick):
            self.dropped["foreign"] += 1
            return [], None
        if message.window.number > self.latest():
            self.dropped["from_the_future"] += 1
            return [], None
        said = np.array([message.said])
        return [], Decision(
            window=message.window,
            digest=digest,
            readings=np.empty((1, 0), dtype=np.int64),
            codes=said.astype(np.uint8),
            presumed=said,
            decided=said,
            probability=None,
        )


def _decision(
    noised: Noised,
    digest: bytes,
    presumed: NDArray[np.bool_],
    decided: NDArray[np.bool_],
    probability: NDArray[np.float64] | None,
) -> Decision:
    return Decision(
        window=noised.window,
        digest=digest,
        readings=noised.readings,
        codes=noised.codes,
        presumed=presumed,
        decided=decided,
        probability=probability,
    )
