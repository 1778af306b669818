"""Rows in a Spark table or in Parquet that Spark reads: questions run on the cluster, over a snapshot of the declared columns."""

from wallflower.engines.registry import Engine

ENGINE = Engine(
    name="Spark",
    schemes=("spark", "sc"),
    opens="wallflower.engines.spark.source:SparkSource",
    extra="spark",
    sorts=True,
    spreads=True,
)
