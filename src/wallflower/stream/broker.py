"""A mosquitto configuration for a stream: passwords required, and an access list that is the roster and the trust model once more.

A forbidden subscription is granted and then stays silent, and a forbidden publication is acknowledged and then thrown
away: that is how mosquitto refuses, so an access list is tested by what arrives.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from wallflower.errors import UsageError
from wallflower.stream.assembly import largest_message, topics
from wallflower.stream.declaration import StreamDeclaration
from wallflower.stream.transport import HEARS

SAYS = {
    "sensor": ("noised", "differences"),
    "analyst": ("presumed", "candidates", "receipt"),
    "corrector": ("threshold", "corrected"),
}


def access_list(declared: StreamDeclaration) -> str:
    """Who may write and read what. A sensor's user name is its own name; whoever is not on the roster may nothing."""
    where = topics(declared)
    lines = ["# Each sensor of the roster, under its own name alone."]
    for sensor in declared.roster:
        lines += ["", f"user {sensor}"]
        lines += [f"topic write {where.of(channel, sensor)}" for channel in where.channels(SAYS["sensor"])]
        lines += [f"topic read {where.of(channel, sensor)}" for channel in where.channels(HEARS["sensor"])]
    for party in ("analyst", "corrector") if declared.protocol == "paper" else ("analyst",):
        lines += ["", f"user {party}"]
        lines += [f"topic write {where.prefix}/{channel}/+/+" for channel in where.channels(SAYS[party])]
        lines += [f"topic read {where.prefix}/{channel}/+/+" for channel in where.channels(HEARS[party])]
    return "\n".join(lines) + "\n"


def configuration(
    declared: StreamDeclaration, folder: Path, *, certificate: Path | None = None, key: Path | None = None
) -> str:
    """The text of mosquitto.conf; it listens where the declaration says the broker is."""
    parts = urlsplit(declared.broker)
    secure = parts.scheme == "mqtts"
    if secure != (certificate is not None and key is not None):
        raise UsageError(
            "mqtts:// needs --certificate and --key, and mqtt:// takes neither.", hint="See docs/stream.md on TLS."
        )
    lines = [
        f"listener {parts.port or (8883 if secure else 1883)} {parts.hostname}",
        "allow_anonymous false",
        f"password_file {folder / 'passwords'}",
        f"acl_file {folder / 'acl'}",
        f"max_packet_size {largest_message(declared) + 1024}",
        "max_inflight_messages 64",
        "max_queued_messages 10000",
        "max_queued_bytes 536870912",
        "retain_available false",
        # A sensor keeps what it sends until its receipt comes, so the broker need not keep anything.
        "persistence false",
        "log_type error",
        "log_type warning",
    ]
    if certificate is not None and key is not None:
        # Absolute: mosquitto looks from wherever it was started, not from here.
        lines += [f"certfile {certificate.resolve()}", f"keyfile {key.resolve()}", "tls_version tlsv1.2"]
    return "\n".join(lines) + "\n"


def write_configuration(
    declared: StreamDeclaration, folder: Path, *, certificate: Path | None = None, key: Path | None = None
) -> list[Path]:
    """Write mosquitto.conf and acl into `folder`; passwords are made with mosquitto_passwd, not here."""
    where = folder.resolve()
    text = configuration(declared, where, certificate=certificate, key=key)
    where.mkdir(parents=True, exist_ok=True)
    files = {where / "mosquitto.conf": text, where / "acl": access_list(declared)}
    for path, content in files.items():
        path.write_text(content, encoding="utf-8")
    return list(files)
