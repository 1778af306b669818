"""Finding a GPU that can run the kernels, and driving it through CuPy."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.errors import UsageError

SOURCE = Path(__file__).with_name("kernels.cu")
THREADS = 128
OLDEST = (7, 0)
"""Compute capability from which the lanes of a warp can talk as the kernels do."""
SLOW_BLOCKS = 8
"""Blocks of a multiprocessor where their room is in slow memory."""
MOST_BLOCKS = 2**30
INSTEAD = "Leave --device out, or ask for cpu: the answer is the same."


def find() -> CudaRunner:
    """The GPU of this machine; refuses in a sentence where there is none that the kernels can run on."""
    if find_spec("cupy") is None:
        raise UsageError(
            "device 'gpu' needs CuPy, which is not installed.", hint=f"Run pip install 'wallflower[gpu]'. {INSTEAD}"
        )
    try:
        cupy = import_module("cupy")
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:
        raise UsageError(
            f"CuPy is installed and finds no GPU that it can use ({type(error).__name__}).",
            hint=f"python -c 'import cupy; cupy.show_config()' says why. {INSTEAD}",
        ) from error
    if not count:
        raise UsageError("there is no GPU here that CuPy can use.", hint=INSTEAD)
    return _runner(cupy)


def _runner(cupy: Any) -> CudaRunner:
    device = cupy.cuda.Device()
    digits = str(device.compute_capability)
    capability = (int(digits[:-1]), int(digits[-1]))
    if capability < OLDEST:
        raise UsageError(
            f"this GPU has compute capability {capability[0]}.{capability[1]}, and {OLDEST[0]}.{OLDEST[1]} is the oldest that works.",
            hint=INSTEAD,
        )
    return CudaRunner(cupy, device.attributes)


class CudaRunner:
    """What `engine.Runner` asks for, on a GPU."""

    def __init__(self, cupy: Any, attributes: Any, options: tuple[str, ...] = ()) -> None:
        """`options`: of the compiler, for measurements."""
        self._cupy, self._options = cupy, options
        self._processors = int(attributes["MultiProcessorCount"])
        self.shared_bytes = int(attributes["MaxSharedMemoryPerBlockOptin"]) // 2
        self._room: Any = None

    def put(self, array: NDArray[Any]) -> Any:
        return self._cupy.asarray(np.ascontiguousarray(array))

    def zeros(self, size: int, kind: type) -> Any:
        return self._cupy.zeros(size, dtype=kind)

    def get(self, array: Any) -> NDArray[Any]:
        return np.asarray(self._cupy.asnumpy(array))

    def run(self, kernel: str, blocks: int, shared: int, room: int, arguments: Sequence[Any]) -> None:
        given, slow = list(arguments), shared > self.shared_bytes
        blocks = min(blocks, self._processors * SLOW_BLOCKS if slow else MOST_BLOCKS)
        if kernel.startswith("lof"):
            room = -(-room // 16) * 16
            self._room = self._cupy.empty(blocks * room if slow else 1, dtype=np.uint8)
            given += [self._room, np.int64(room)]
        function = _function(self._cupy, kernel, slow, self._options)
        held = 0 if slow else shared
        if held:
            function.max_dynamic_shared_size_bytes = held
        function((blocks,), (THREADS,), tuple(given), shared_mem=held)

    def wait(self) -> None:
        self._cupy.cuda.get_current_stream().synchronize()


@cache
def _function(cupy: Any, kernel: str, slow: bool, more: tuple[str, ...]) -> Any:  # noqa: FBT001 - a key of the cache
    return _module(cupy, kernel.split("_", maxsplit=1)[0], slow, more).get_function(kernel)


@cache
def _module(cupy: Any, detector: str, slow: bool, more: tuple[str, ...]) -> Any:  # noqa: FBT001 - a key of the cache
    """A detector's kernels, compiled for this GPU when they are first asked for; CuPy keeps them in its cache folder."""
    room = ("-DROOM_IN_GLOBAL",) if slow else ()
    options = ("--std=c++17", "--fmad=false", f"-DONLY_{detector.upper()}", *room, *more)
    return cupy.RawModule(code=SOURCE.read_text(encoding="utf-8"), options=options, backend="nvrtc")
