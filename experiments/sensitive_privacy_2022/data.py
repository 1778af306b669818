"""The five data sets as integer points, with the paper's (β, r). Preparation is fixed in advance, never tuned to a number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.parquet as pq
from benchmarks.harness import data_folder

from wallflower.geometry.balls import Ball
from wallflower.identify.metric import Metric

STEPS = 10**6
"""Steps to the unit: every coordinate is rounded to six decimals and counted in integers."""


@dataclass(frozen=True)
class DataSet:
    name: str
    note: str
    points: np.ndarray
    labels: np.ndarray
    beta: int
    radius: str
    paper_size: int
    paper_anomalies: int

    @property
    def metric(self) -> Metric:
        width = self.points.shape[1]
        ball = Ball(weights=(1,) * width, limit=int(float(self.radius) * STEPS + 0.5) ** 2)
        return Metric(columns=("",) * width, by_gap=(True,) * width, ball=ball, doubling=4)


def steps(values):
    return np.rint(np.asarray(values, dtype=np.float64) * STEPS).astype(np.int64)


def _columns(file, names):
    path = data_folder() / file
    if not path.is_file():
        message = f"the data set {file} is missing from {path.parent}"
        raise SystemExit(message)
    table = pq.read_table(path, columns=list(names))
    return np.column_stack([table[name].to_numpy().astype(np.float64) for name in names])


def principal(values, wanted):
    """The first principal components of standardised columns. Data dependent: fine for repeating a paper, not for a release (S5)."""
    spread = values.std(axis=0)
    scaled = (values[:, spread > 0] - values[:, spread > 0].mean(axis=0)) / spread[spread > 0]
    _, vectors = np.linalg.eigh(scaled.T @ scaled)
    return scaled @ vectors[:, ::-1][:, :wanted]


def credit(*, quick):
    values = _columns("creditcard_fraud.parquet", [f"V{i}" for i in range(1, 7)])
    labels = _columns("creditcard_fraud.parquet", ["Class"])[:, 0] == 1
    if quick:
        values, labels = values[::20], labels[::20]
    note = "V1 to V6, which are principal components already" + (", every 20th record" if quick else "")
    return DataSet("Credit Fraud", note, steps(values), labels, 1022, "6.7", 284_807, 103)


def trucks(*, beta):
    path = data_folder() / "aps_scania_partial.parquet"
    names = [name for name in pq.read_schema(path).names if name not in {"class", "fragment"}]
    values = _columns(path.name, names)
    labels = _columns(path.name, ["class"])[:, 0] == 1
    values = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
    note = f"9,000 of 60,000 records; means for missing values, standardised, 12 components; β = {beta}"
    return DataSet(
        f"APS Trucks (part, β = {beta})", note, steps(principal(values, 12)), labels, beta, "16.2", 60_000, 677
    )


def synthetic():
    """Our reading of "mixed and 200-dimensional Gaussian": 1 % outliers around ten far centres."""
    rng = np.random.default_rng(2022)
    size, width, few = 20_000, 200, 200
    values = rng.normal(size=(size, width))
    centres = rng.normal(size=(10, width))
    centres *= 2 * np.sqrt(width) / np.linalg.norm(centres, axis=1, keepdims=True)
    values[:few] += centres[rng.integers(0, 10, few)]
    labels = np.arange(size) < few
    note = "200 columns, 99 % N(0, I) and 1 % around ten centres at distance 2√200; 9 components, not standardised"
    centred = values - values.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    return DataSet("Synthetic", note, steps(centred @ vectors[:, ::-1][:, :9]), labels, 97, "3.8", 20_000, 201)


def mammography():
    values = _columns("mammography.parquet", [f"x{i}" for i in range(1, 7)])
    labels = _columns("mammography.parquet", ["label"])[:, 0] == 1
    return DataSet("Mammography", "as in ODDS (z-scored)", steps(values), labels, 55, "1.7", 11_183, 75)


def thyroid(*, raw=True):
    kind = "raw" if raw else "x"
    values = _columns("thyroid.parquet", [f"{kind}{i}" for i in range(1, 7)])
    labels = _columns("thyroid.parquet", ["label"])[:, 0] == 1
    name = "Thyroid" if raw else "Thyroid (min-max)"
    return DataSet(name, "original scale" if raw else "min-max scaled", steps(values), labels, 18, "0.1", 3_772, 61)


def every(*, quick):
    """The sets of Table 1, then the variants that are shown beside them."""
    return [
        credit(quick=quick), trucks(beta=282), trucks(beta=42), synthetic(), mammography(), thyroid(), thyroid(raw=False),
    ]  # fmt: skip


def gaussian():
    """Figures 1 and 2: 20,000 points of N(0, 2I), β = 24, r = 0.26."""
    rng = np.random.default_rng(7)
    values = rng.normal(size=(20_000, 2)) * np.sqrt(2)
    return DataSet("Gaussian", "", steps(values), np.zeros(20_000, dtype=bool), 24, "0.26", 20_000, 0)
