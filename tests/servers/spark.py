"""One Spark session on two threads for each process that runs tests, started when the first test needs it and stopped when the process ends.

Its settings make many small questions cheap (no generated code, one partition after a shuffle, a compiler that does little): the tests of
a cluster run with Spark's own.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from functools import cache

import pytest

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "OFF",
}
SMALL = {
    "spark.driver.memory": "700m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def needed() -> None:
    """Skip where Spark cannot run; with CI=true fail, since nothing is skipped there."""
    missing = [name for name, found in (("pyspark", _importable()), ("Java", shutil.which("java"))) if not found]
    if missing and os.environ.get("CI") == "true":
        raise RuntimeError(f"{' and '.join(missing)} not installed")
    if missing:
        pytest.skip(f"{' and '.join(missing)} not installed (Debian: apt-get install default-jre-headless)")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the executors' Python, with this package


def _importable() -> bool:
    from importlib.util import find_spec

    return find_spec("pyspark") is not None


@cache
def session():
    needed()
    from pyspark.sql import SparkSession

    folder = tempfile.mkdtemp(prefix="wallflower-spark-")
    builder = SparkSession.builder.master("local[2]").appName("tests").config("spark.local.dir", folder)
    builder = builder.config("spark.sql.warehouse.dir", f"{folder}/warehouse")
    for name, value in {**SETTINGS, **SMALL}.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()

    def end() -> None:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)
    return made
