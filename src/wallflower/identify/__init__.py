"""Is this value an anomaly in the table? Sensitive privacy: rows that are normal, or nearly so, are protected like in
differential privacy, and anomalies are told with little error.

`Anomalies` asks about public values under a declared model. `margins` holds the bounds that the answers fade with, `bounds`
checks one of your own, `influence` says how many questions one row can influence, `lookahead` is the mechanism for radius 0.
"""

from wallflower.identify.queries import Anomalies

__all__ = ["Anomalies"]
