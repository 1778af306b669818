"""What an outlier is, with no privacy inside.

A detector is a frozen description with one verb, `stands_out(values, value, step=...)`: a function of the sorted values
alone. Published ones: `Grubbs` (a test of means), `LOF` (local density, every tie included), `Histogram` (nearly empty bars),
`Distance` (few others within a radius), `IQR` (Tukey's fences),
`MAD` (deviation from the median). `Detector` is the protocol for one of your own; `detector` reads one from text, and finds those
of other packages by the entry-point group `wallflower.detectors`.
"""

from wallflower.detectors.base import Detector
from wallflower.detectors.distance import Distance
from wallflower.detectors.grubbs import Grubbs
from wallflower.detectors.histogram import Histogram
from wallflower.detectors.iqr import IQR
from wallflower.detectors.lof import LOF
from wallflower.detectors.mad import MAD
from wallflower.detectors.registry import detector

__all__ = ["IQR", "LOF", "MAD", "Detector", "Distance", "Grubbs", "Histogram", "detector"]
