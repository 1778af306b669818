"""Detectors of the contract suite, as the command line writes them. A registered detector that is not here fails the suite."""

from __future__ import annotations

WRITTEN = [
    "grubbs(alpha=0.05)",
    "grubbs(alpha=0.3, argmax=true)",
    "lof(neighbours=3, threshold=1.2)",
    "histogram(rare=0.06)",
    "histogram(rare=0.2, width=7)",
    "distance(p=0.2, radius=3)",
    "iqr(factor=1.5)",
    "iqr(factor=0.4)",
    "mad(threshold=3.5)",
    "mad(threshold=1)",
]
