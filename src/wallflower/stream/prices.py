"""The price of a stream in words: what a reading, a window, a period and a day cost, and what will be learnt for it."""

from __future__ import annotations

from fractions import Fraction

from wallflower.mechanisms.alarm_clock import AlarmClock
from wallflower.privacy.price import Price
from wallflower.schema.display import percent
from wallflower.schema.exact import shown
from wallflower.stream import fleet
from wallflower.stream.declaration import TWO_SERVERS, Slots, StreamDeclaration
from wallflower.stream.promises import clock, guarantee, length, perturbation, response

NOT_HIDDEN = "How many readings there are, when a sensor is on, and its name are not hidden."


def price(declared: StreamDeclaration) -> Price:
    """Before any reading is taken."""
    if declared.slots is not None:
        return _of_slots(declared, declared.slots)
    return _of_windows(declared)


def _of_slots(declared: StreamDeclaration, slots: Slots) -> Price:
    mechanism = clock(declared)
    epsilon, period = shown(slots.epsilon), length(slots.period)
    periods = int(declared.budget.per_day / slots.epsilon)
    notes = [
        (
            f"User level: everything a sensor sends in a {_whole(period)} costs {epsilon} for a person behind all of its readings, however "
            f"many there are and however often they change. Periods add up: K of them cost {epsilon}·K. "
            f"The day's limit {shown(declared.budget.per_day)} allows {periods:,} a day (UTC)."
        ),
        (
            f"One message of the same size {'each ' + length(slots.slot) if declared.protocol == 'alarm' else 'a ' + _whole(period)}, "
            "whatever happens. The promise holds against everyone who sees everything that is sent."
        ),
        NOT_HIDDEN,
    ]
    settings = {
        "period": length(slots.period),
        "slot": f"{length(slots.slot)}, {slots.count} in a period",
        "core_radius": shown(declared.core_radius),
        "least_readings": str(slots.least_readings),
    }
    if isinstance(mechanism, AlarmClock):
        settings |= {"false_alarms": shown(slots.false_alarms), "live_share": shown(slots.live_share)}
        expected = _expected_alarm(mechanism, declared.outlier_share)
    else:
        widths = [(n, fleet.half_width(n, 0.1, 1 - mechanism.flip, mechanism.flip)) for n in (100, 1_000, 10_000)]
        expected = {
            "answers_turned_over": _percent(mechanism.flip),
            "fleet_share": ", ".join(f"± {width:.3f} from {n:,}" for n, width in widths)
            + " sensor-periods (95 %, at a share of 0.1)",
        }
    return Price(
        guarantee=guarantee(declared),
        mechanism={
            "name": "alarm clock" if declared.protocol == "alarm" else "sampled slot",
            "protocol": declared.protocol,
            "epsilon_per_period": epsilon,
        },
        settings=settings,
        expected=expected,
        notes=tuple(notes),
    )


def _percent(part: Fraction | float, *, digits: int = 1) -> str:
    return percent(float(part), digits=digits).replace(" %", "%")


def _whole(period: str) -> str:
    return period if period == "day" else f"period of {period}"


def _expected_alarm(mechanism: AlarmClock, share: Fraction | None) -> dict[str, str]:
    """Precision and recall from public numbers alone."""
    hit, false = float(mechanism.recall(mechanism.slots - 1)), float(mechanism.false_alarms)
    early = float(mechanism.recall(0))
    steady = round(hit, 3) == round(early, 3)
    recall = (
        _percent(hit)
        if steady
        else f"{_percent(hit)} (last slot) to {_percent(early)} (first slot), by when it begins,"
    )
    shares = (share,) if share is not None else (Fraction(1, 4), Fraction(1, 10))
    live = 1 - float(mechanism.law([True] * mechanism.slots)[-1]) - float(mechanism.law([True] * mechanism.slots)[-2])
    right = [
        f"{_percent(fleet.precision(float(pi), hit, false))} where {float(pi):.0%} of periods misbehave"
        for pi in shares
    ]
    return {
        "recall": f"{recall} of misbehaving periods raise an alarm",
        "precision": f"of alarms, {', '.join(right)} are right",
        "before_the_last_slot": f"{_percent(live, digits=0)} of periods that misbehave from their start on",
        # Where recall depends on when it begins, the interval covers both ends, which makes it wider than draws alone do.
        "fleet_share": f"{'' if steady else 'at least '}± {fleet.half_width(1_000, 0.1, hit, false):.3f} from 1,000 sensor-periods (95 %, at a share of 0.1)",
    }


def _of_windows(declared: StreamDeclaration) -> Price:
    columns: dict[str, str] = {}
    noise = None
    if declared.protocol != "code":
        noise = perturbation(declared)
        columns = {
            f"noise_of_{column.name}": f"{float(noisy.scale * noisy.domain.step):.6g}, its mean size, in the column's units"
            for column, noisy in zip(declared.columns, noise.columns, strict=True)
        }
    flip = {}
    code = response(declared)
    if code is not None:
        flip = {"codes_kept": _percent(code.likelihood()[0, 0])}
    event = shown(declared.event_epsilon)
    most = int(declared.budget.per_day / declared.event_epsilon)
    apart = " between readings one core range apart" if declared.promise == "metric-privacy" else ""
    notes = [
        (
            f"Event level: one reading loses {event}{apart}. User level: a person behind all {declared.window} readings of a window loses "
            f"{shown(declared.window_epsilon)}, and the day's limit {shown(declared.budget.per_day)} allows {most:,} readings a day (UTC)."
        )
    ]
    if declared.protocol == "paper":
        notes.append(f"Trust: {TWO_SERVERS}. The promise covers the noised readings alone, towards the analyst.")
    else:
        notes.append("The promise holds against everyone who sees everything that is sent.")
    if declared.protocol == "code":
        notes.append(
            "Event level does not hide an episode: whoever decodes the bits of many readings, as the analyst does, sees it."
        )
    if declared.promise == "metric-privacy" and noise is not None:
        notes.append(
            "Over the whole declared range a reading loses at most "
            f"{shown(noise.local().epsilon + declared.epsilon2)}: a far outlier is recognisable as one."
        )
    notes.append(NOT_HIDDEN)
    return Price(
        guarantee=guarantee(declared),
        mechanism={"name": "perturbation at the source", "protocol": declared.protocol, "epsilon_per_reading": event},
        settings={
            "window": str(declared.window),
            "core_radius": shown(declared.core_radius),
            "detector": declared.detector,
            "layers": ", ".join(shown(radius) for radius in declared.layers),
        },
        expected={**columns, **flip},
        notes=tuple(notes),
    )
