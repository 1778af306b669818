"""Counts for an operator, in Prometheus' text format: messages, refusals, lag; nothing about readings or what was decided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wallflower.atomic_file import write_whole
from wallflower.stream.analyst_loop import AnalystLoop
from wallflower.stream.book import Statement
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.mqtt import MqttTransport
from wallflower.stream.outbox import Outbox


@dataclass(frozen=True)
class Metric:
    name: str
    help: str
    kind: str
    values: tuple[tuple[dict[str, str], float], ...]

    def text(self) -> str:
        lines = [f"# HELP {self.name} {self.help}", f"# TYPE {self.name} {self.kind}"]
        for labels, value in self.values:
            inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items())
            lines.append(f"{self.name}{{{inside}}} {value:g}")
        return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def sensor_metrics(declared: StreamDeclaration, name: str, statement: Statement, outbox: Outbox) -> list[Metric]:
    of = {"stream": declared.id, "sensor": name}
    return [
        Metric("wallflower_sensor_charged_total", "Windows or periods charged.", "counter", ((of, statement.windows),)),
        Metric("wallflower_sensor_waiting", "Messages without a receipt.", "gauge", ((of, statement.waiting),)),
        Metric("wallflower_sensor_resent_total", "Messages sent again.", "counter", ((of, outbox.resent),)),
        Metric("wallflower_sensor_epsilon_today", "Spent since midnight, UTC.", "gauge", ((of, float(statement.today)),)),
        Metric(
            "wallflower_sensor_refused", "1 when the analyst reads another declaration.", "gauge", ((of, outbox.refused),)
        ),
    ]  # fmt: skip


def analyst_metrics(declared: StreamDeclaration, loop: AnalystLoop, line: MqttTransport) -> list[Metric]:
    of = {"stream": declared.id}
    dropped = loop.dropped + loop.analyst.dropped + line.dropped
    return [
        Metric("wallflower_analyst_messages_total", "Messages decided.", "counter", ((of, loop.windows),)),
        Metric("wallflower_analyst_lag_seconds", "Arrival to disk, slowest of the last batch.", "gauge", ((of, loop.lag),)),
        Metric("wallflower_analyst_connections_total", "Times the line came up.", "counter", ((of, line.connections),)),
        Metric(
            "wallflower_analyst_dropped_total",
            "Messages dropped, by reason.",
            "counter",
            tuple(({**of, "reason": reason}, count) for reason, count in sorted(dropped.items())),
        ),
        Metric(
            "wallflower_analyst_cut_off_total",
            "Times a sensor was unsubscribed for a flood.",
            "counter",
            tuple(({**of, "sensor": topic.rsplit("/", 1)[1]}, times) for topic, times in sorted(line.cut_off.items())),
        ),
        Metric(
            "wallflower_analyst_doubled",
            "1 for a name under which two sensors speak.",
            "gauge",
            tuple(({**of, "sensor": name}, 1) for name in sorted(loop.doubled)),
        ),
    ]  # fmt: skip


def write_metrics(path: Path, metrics: Iterable[Metric]) -> None:
    """Whole or not at all, as Prometheus' text file collector wants it."""
    write_whole(path, "".join(metric.text() for metric in metrics))
    path.chmod(0o644)  # the collector is another user, and there is nothing to hide in counts
