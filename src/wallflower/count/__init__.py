"""How many outliers are there? Questions whose answers are differentially private counts.

`Outliers` counts the rows with few others near them, `GroupedOutliers` does so for every group, `DailyOutliers` does so for every day of a table that grows, `FencedOutliers` counts those beyond private quantile fences; `Subspaces` finds the columns in which there are many such rows.

    sensitivity     how far a count can move, from the number of columns and k alone
    covers          how many rows one ball can hold: bounds that are smooth by construction
    profiles        how far the count of this table can move within t changes
    noise           which noise, by public things alone
    intervals       a narrow interval, bought
    queries         Outliers
    groups          GroupedOutliers
    tree            running totals from few noisy sums
    daily           DailyOutliers
    fences          FencedOutliers
    subspaces       Subspaces
"""

from wallflower.count.daily import DailyOutliers
from wallflower.count.fences import FencedOutliers
from wallflower.count.groups import GroupedOutliers
from wallflower.count.queries import Outliers
from wallflower.count.subspaces import Subspaces

__all__ = ["DailyOutliers", "FencedOutliers", "GroupedOutliers", "Outliers", "Subspaces"]
