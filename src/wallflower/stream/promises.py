"""What a stream promises, and what that costs and gives, from its declaration alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from wallflower.mechanisms.alarm_clock import AlarmClock
from wallflower.mechanisms.layer import LayerResponse
from wallflower.mechanisms.perturbation import NoisyColumn, Perturbation
from wallflower.mechanisms.sampled_slot import SampledSlot
from wallflower.privacy.guarantee import factor
from wallflower.privacy.guarantees import LocalDP, MetricPrivacy
from wallflower.schema.exact import shown
from wallflower.stream.declaration import TWO_SERVERS, Slots, StreamDeclaration


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
    """The randomised code of a reading's layer; None where a protocol sends none."""
    if not declared.epsilon2:
        return None
    return LayerResponse(epsilon=declared.epsilon2, layers=len(declared.layers) + 1)


def clock(declared: StreamDeclaration) -> AlarmClock | SampledSlot:
    """What draws the words of a stream that speaks by the clock."""
    slots = declared.slots
    if slots is None:
        raise AssertionError("this protocol speaks in windows.")
    if declared.protocol == "share":
        return SampledSlot(epsilon=slots.epsilon, slots=slots.count)
    return AlarmClock(
        epsilon=slots.epsilon, false_alarms=slots.false_alarms, live_share=slots.live_share, slots=slots.count
    )


def length(seconds: Fraction) -> str:
    """A length of time as people write it.

    >>> length(Fraction(86400)), length(Fraction(900)), length(Fraction(1, 2))
    ('day', '15m', '500ms')
    """
    if seconds == 86400:
        return "day"
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        if seconds % size == 0:
            return f"{seconds / size}{unit}"
    return f"{seconds * 1000}ms"


@dataclass(frozen=True, kw_only=True)
class PeriodLocalDP(LocalDP):
    """ε-local differential privacy of everything a sensor sends in a period."""

    neighbours: str = "any other readings of the same period, all of them"
    protects: str = "everything measured in a period"

    @property
    def sentence(self) -> str:
        whole = "all day" if self.unit == "day" else f"in a whole {self.unit}"
        return (
            f"Whatever this sensor measured {whole}, everything it sends is at most {factor(self.epsilon)} times as likely as "
            f"for any other {self.unit}, whoever sees it, all parties together included."
        )


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
    """What one reading, or one period, is promised. Under `paper` it says towards whom there is no promise."""
    if declared.slots is not None:
        return PeriodLocalDP(epsilon=declared.slots.epsilon, unit=_unit(declared.slots))
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


def _unit(slots: Slots) -> str:
    said = length(slots.period)
    return said if said == "day" else f"period of {said}"
