"""The kernels on a processor: the same source, compiled by g++, one lane after the other. For nobody in a hurry."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wallflower.explain import gpu

SOURCE = Path(gpu.__file__).with_name("kernels.cu")
FLAGS = ("-x", "c++", "-std=c++17", "-O2", "-ffp-contract=off", "-shared", "-fPIC")


def compiler() -> str | None:
    return shutil.which("g++")


def compiled(folder: Path, source: str | None = None) -> Path:
    """A library of the kernels in `folder`; `source` in place of theirs, where a test has changed it."""
    file = folder / "kernels.cu"
    file.write_text(SOURCE.read_text(encoding="utf-8") if source is None else source, encoding="utf-8")
    made = folder / "kernels.so"
    command = [str(compiler()), *FLAGS, f"-I{Path(__file__).parent}", str(file), "-o", str(made)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return made


class HostRunner:
    """What `engine.Runner` asks for."""

    def __init__(self, library: Path, shared_bytes: int = 2**20) -> None:
        self._library, self.shared_bytes = ctypes.CDLL(str(library)), shared_bytes

    @staticmethod
    def put(array: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(array)

    @staticmethod
    def zeros(size: int, kind: type) -> NDArray[Any]:
        return np.zeros(size, dtype=kind)

    @staticmethod
    def get(array: NDArray[Any]) -> NDArray[Any]:
        return array

    def run(self, kernel: str, blocks: int, shared: int, room: int, arguments: Sequence[Any]) -> None:
        given = list(arguments)
        if kernel.startswith("lof"):
            given += [np.full(room // 8 + 1, -1, dtype=np.int64), np.int64(room)]
        getattr(self._library, kernel)(*map(_passed, given))

    @staticmethod
    def wait() -> None:
        pass


def _passed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, np.float64):
        return ctypes.c_double(float(value))
    return ctypes.c_longlong(int(value))
