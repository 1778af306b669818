"""How many outliers are there? Questions whose answers are differentially private counts.

`Outliers` counts the rows with few others near them.
"""

from wallflower.count.queries import Outliers

__all__ = ["Outliers"]
