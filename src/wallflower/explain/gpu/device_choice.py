"""Which device decides the contexts of a question. It changes time alone: the flags are the processor's, bit for bit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wallflower.detectors.base import spelled
from wallflower.detectors.device import OnDevice
from wallflower.errors import UsageError
from wallflower.explain.gpu import cuda
from wallflower.explain.gpu.engine import Engine, Runner
from wallflower.explain.gpu.problems import View, problem
from wallflower.explain.gpu.trial import differs
from wallflower.progress import warn

DEVICES = ("auto", "cpu", "gpu")
WORTH_IT = 18
"""log2 of how many contexts `auto` needs before it looks for a GPU: fewer take less than finding one."""

Answer = TypeVar("Answer")


def why_not(detector: object, *, guarantee: str, search: str, utility: object) -> str | None:
    """Why no GPU can decide the contexts of such a question; None where one can."""
    if guarantee == "full":
        return "guarantee 'full' scores contexts and does not decide them"
    if search != "exact":
        return f"search '{search}' looks at few contexts, one after the other"
    if not isinstance(utility, str):
        return "a utility of one's own is asked about every context in Python"
    if not isinstance(detector, OnDevice) or detector.kernel is None:
        return f"it decides lof, grubbs and histogram without public bins, not {spelled(detector)}"
    return None


def chosen(device: str, detector: Any, reason: str | None, contexts_log2: int) -> Runner | None:
    """The GPU, or None for the processor; refuses where `gpu` is asked for and cannot be. From public things alone."""
    if device == "cpu" or (device == "auto" and (reason is not None or contexts_log2 < WORTH_IT)):
        return None
    if reason is not None:
        raise UsageError(f"device 'gpu' cannot be used here: {reason}.", hint=cuda.INSTEAD)
    try:
        return _checked(detector.kernel)
    except UsageError:
        if device == "gpu":
            raise
        return None


@cache
def _checked(kernel: str) -> Runner:
    """A GPU that decides a made-up table as the processor does."""
    runner = cuda.find()
    try:
        wrong = differs(runner, kernel)
    except Exception as error:
        raise UsageError(
            f"the GPU could not decide a made-up table ({type(error).__name__}).", hint=cuda.INSTEAD
        ) from error
    if wrong:
        raise UsageError(
            f"the GPU decided {wrong} contexts of a made-up table otherwise than the processor.", hint=cuda.INSTEAD
        )
    return runner


class Every:
    """Every context at once. What a device cannot finish gives None, and the processor does it: no release fails because of a GPU."""

    def __init__(self, runner: Runner, view: View, detector: Any, score: NDArray[np.int64] | None) -> None:
        self._parts = runner, view, detector, score
        self._engine: Engine | None = None
        self._broken = False

    def flags(self) -> NDArray[np.bool_] | None:
        return self._tried(lambda engine: engine.flags())

    def counted(self) -> Counter[int] | None:
        return self._tried(lambda engine: engine.counted())

    def found(self, wanted: Mapping[int, Sequence[int]]) -> tuple[dict[tuple[int, int], int], Counter[int]] | None:
        return self._tried(lambda engine: engine.found(wanted))

    def _tried(self, work: Callable[[Engine], Answer]) -> Answer | None:
        if self._broken:
            return None
        try:
            if self._engine is None:
                self._engine = self._made()
            if self._engine is not None:
                return work(self._engine)
            self._broken = True
        except Exception as error:  # noqa: BLE001 - memory, a driver, a card that another program took
            self._broken = True
            warn(f"The GPU stopped ({type(error).__name__}); the processor goes on, to the same answer.")
        return None

    def _made(self) -> Engine | None:
        runner, view, detector, score = self._parts
        asked = problem(view, detector)
        if asked is None:
            return None
        held = view.counts.ravel() > 0
        return Engine(asked, runner, None if score is None else score.ravel()[held])
