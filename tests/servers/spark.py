"""One Spark session on two threads for each process that runs tests, started when the first test needs it."""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import cache

import pytest


@cache
def session():
    pyspark = pytest.importorskip("pyspark", reason="pyspark is in the extra 'spark'")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java (Debian: apt-get install default-jre-headless)")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = pyspark.sql.SparkSession.builder.master("local[2]").appName("tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": tempfile.mkdtemp(prefix="wallflower-spark-"),
        "spark.driver.memory": "1g",
        "spark.log.level": "OFF",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()
