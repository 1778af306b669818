"""The session that a declaration's `source` names, with its settings pinned while a release runs, and put back afterwards.

A session's settings can change what a statement means, what a cell reads as, and what is printed. Those that can are pinned here to Spark's own
defaults; names of columns are never resolved (`catalogue.stage`), so that `spark.sql.caseSensitive` decides nothing.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from wallflower.engines.redaction import broken, quietly
from wallflower.engines.spark.snapshot import Snapshot
from wallflower.errors import DeclarationError, WallflowerError

SETTINGS = {
    # Days are days in UTC; what does not fit is an error or NULL, never wrapped around; decimals are written in full.
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # A statement means what it says: no ${...} in a declared text is replaced, a backslash in a pattern stays one, quotes quote.
    "spark.sql.variable.substitute": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.legacy.consecutiveStringLiterals.enabled": "false",
    # Parquet holds what its schema says: bytes are no text, days before 1582 are the same days, nanoseconds are no numbers.
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.int96AsTimestamp": "true",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.legacy.parquet.nanosAsLong": "false",
    # A file that is broken or gone fails the release; its rows are not left out in silence.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
QUIET = {"spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF"}
"""For a session of our own: an executor's error quotes cells, and the driver would print it."""
LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""Where PySpark prints what it raises, cells and all, in the thread that asked."""
ONE_AT_A_TIME = threading.RLock()
"""Settings belong to a session: a second release of this process would put them back under the first."""
HERE = threading.local()


@contextmanager
def snapshot(address: str) -> Iterator[Snapshot]:
    """On the session of the address, whose settings, names and log are left as they were."""
    with ONE_AT_A_TIME, _unprinted():
        session = quietly(lambda: session_at(address), lambda: unreachable(address))
        base = Snapshot(session)
        before = quietly(lambda: {name: session.conf.get(name, None) for name in SETTINGS}, broken)
        level = quietly(lambda: _log_level(session, "OFF"), broken)
        try:
            quietly(lambda: _configure(session, SETTINGS), broken)
            yield base
        finally:
            quietly(lambda: _restore(base, before, level), broken)


@contextmanager
def _unprinted() -> Iterator[None]:
    from pyspark.logger import PySparkLogger

    for name in LOGGERS:
        PySparkLogger.getLogger(name).addFilter(_elsewhere)
    depth = getattr(HERE, "depth", 0)
    HERE.depth = depth + 1
    try:
        yield
    finally:
        HERE.depth = depth


def _elsewhere(_record: logging.LogRecord) -> bool:
    """Whether a record comes from a thread that asks nothing of ours."""
    return not getattr(HERE, "depth", 0)


def unreachable(address: str) -> WallflowerError:
    if address == "spark:":
        return DeclarationError(
            'source = "spark:" means the session that is running, and none is.',
            hint="Start one: SparkSession.builder.getOrCreate().",
        )
    return DeclarationError(
        f"no Spark session could be opened at '{address}'.", hint="Check the address of the master or server."
    )


def session_at(address: str) -> Any:
    from pyspark.sql import SparkSession

    running = _running()
    if address == "spark:":
        if running is None:
            raise unreachable(address)
        return running
    if address.startswith("sc:"):
        return SparkSession.builder.appName("wallflower").remote(address).getOrCreate()
    if running is None:
        builder = SparkSession.builder.appName("wallflower").master(address)
        for name, value in QUIET.items():
            builder = builder.config(name, value)
        running = builder.getOrCreate()
    if running.sparkContext.master != address:
        # Spark would hand the running session out, whatever master was asked for.
        raise DeclarationError(
            f"a Spark session is running that is not at '{address}', and a process has one.",
            hint='Stop it, or write source = "spark:" to use it.',
        )
    return running


def _running() -> Any:
    """The session of this thread, or the one that all threads share; None when there is none."""
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        return SparkSession.active()
    except PySparkException:
        return None


def _configure(session: Any, settings: Mapping[str, str | None]) -> None:
    for name, value in settings.items():
        if value is None:
            session.conf.unset(name)
        else:
            session.conf.set(name, value)


def _log_level(session: Any, wanted: Any) -> Any:
    """Set what the driver logs; returns what it logged before. None where the driver is elsewhere (Spark Connect)."""
    context = getattr(session, "_sc", None)
    if context is None or wanted is None:
        return None
    root = context._jvm.org.apache.logging.log4j.LogManager.getRootLogger()  # noqa: SLF001 - Spark tells the level nowhere else
    before = root.getLevel().toString()
    if before != wanted:
        context.setLogLevel(wanted)
    return before


def _restore(base: Snapshot, before: Mapping[str, str | None], level: Any) -> None:
    try:
        base.discard()
    finally:
        _configure(base.session, before)
        _log_level(base.session, level)
