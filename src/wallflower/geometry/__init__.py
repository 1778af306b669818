"""Which rows are near which, decided in integers: the one exact spatial index.

`balls` writes a declared distance as one integer inequality; `index` says how many rows lie within a ball of a row, capped, and
which ones; `cells` counts the same in up to three columns by a grid.
"""

from wallflower.geometry.balls import Ball, normalised_ball
from wallflower.geometry.index import Graph, RadiusIndex

__all__ = ["Ball", "Graph", "RadiusIndex", "normalised_ball"]
