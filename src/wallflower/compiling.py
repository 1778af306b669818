"""How a loop becomes machine code: `kernel`, the one decorator of every file whose name holds "kernels".

numba's own cache has three habits that a release must not inherit. It looks at the file of a function and not at those
of its helpers, so that a changed helper leaves stale code behind; it fails where it finds no folder to write to or a
damaged file, which may be after a charge; and a parallel loop ends a forked child that calls it after its parent did.
Here the key of compiled code holds a digest of every file its kernel uses, code that cannot be kept is compiled in memory, and a
forked child runs the same loops on one thread. Answers depend on none of this.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import threading
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, ParamSpec, Protocol, TypeVar, overload

import numba
from numba.core.caching import FunctionCache

_Takes = ParamSpec("_Takes")
_Gives = TypeVar("_Gives")
_PACKAGE = Path(__file__).parent

Compiled = Callable[..., Any]


class _Decorator(Protocol):
    def __call__(self, function: Callable[_Takes, _Gives], /) -> Callable[_Takes, _Gives]: ...


@overload
def kernel(function: Callable[_Takes, _Gives], /) -> Callable[_Takes, _Gives]: ...
@overload
def kernel(*, parallel: bool = ..., fastmath: set[str] = ..., error_model: str = ...) -> _Decorator: ...
def kernel(function: Callable[..., Any] | None = None, /, *, parallel: bool = False, **options: Any) -> Any:
    """Compile `function` when it is first called, without the interpreter's lock; `options` are numba's.

    A parallel kernel is called from Python, never from another kernel.
    """
    if function is None:
        return functools.partial(kernel, parallel=parallel, **options)
    if parallel:
        return functools.update_wrapper(_Parallel(function, options), function)
    return _compiled(function, options)


def digest(file: Path, package: Path = _PACKAGE) -> str:
    """Of a kernel file and of every file of the package that it imports, directly or not: a changed helper is noticed.

    A change in one area leaves the compiled code of the others alone.
    """
    found = hashlib.sha256()
    for path in sorted(files_of(file, package)):
        found.update(f"{path.name}\n{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()


def files_of(file: Path, package: Path = _PACKAGE) -> frozenset[Path]:
    """`file` and the files of `package` that it imports by their whole names, directly or not."""
    seen: set[Path] = set()
    ahead = [file]
    while ahead:
        path = ahead.pop()
        if path not in seen:
            seen.add(path)
            ahead += _imported(path.read_bytes(), package)
    return frozenset(seen)


def _imported(source: bytes, package: Path) -> list[Path]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    ours = [package.joinpath(*name.split(".")[1:]) for name in names if name.split(".")[0] == package.name]
    return [path.with_suffix(".py") for path in ours if path.with_suffix(".py").is_file()]


class _Parallel:
    """A kernel with a parallel loop, and its twin on one thread for a child that was forked from running threads."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._threads = _compiled(function, {**options, "parallel": True})
        self._alone = functools.cache(lambda: _compiled(function, options))

    def __call__(self, *arguments: Any) -> Any:
        if _STARTED.in_a_parent:
            return self._alone()(*arguments)
        if not _STARTED.one_caller_at_a_time:
            return self._threads(*arguments)
        with _STARTED.turn:
            return self._threads(*arguments)


class _Started:
    """What is known of numba's threads in this process."""

    def __init__(self) -> None:
        self.in_a_parent = False
        self.turn = threading.Lock()
        os.register_at_fork(after_in_child=self._forked)

    def _forked(self) -> None:
        self.turn = threading.Lock()  # the parent's may be held by a thread that does not exist here
        self.in_a_parent = self.in_a_parent or self._layer() is not None

    @property
    def one_caller_at_a_time(self) -> bool:
        """numba's own threads, used where neither TBB nor OpenMP is there, end the process when two threads call them."""
        return self._layer() in {None, "workqueue"}

    @staticmethod
    def _layer() -> str | None:
        try:
            return str(numba.threading_layer())
        except ValueError:  # not started yet
            return None


_STARTED = _Started()


class _Kept(FunctionCache):  # type: ignore[misc]  # numba publishes no types
    """numba's cache with a stricter key, for which a folder that cannot be read or written is an empty one."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function)
        self._ours = (_digest_of(function.__code__.co_filename), repr(sorted(options.items(), key=str)))

    def _index_key(self, sig: Any, codegen: Any) -> Hashable:
        return (*super()._index_key(sig, codegen), self._ours)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - pickles break in many ways; compiling again heals them all
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:  # noqa: BLE001 - a full disk, a folder that went away: the code in memory is good
            return


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Compiled:
    compiled = numba.njit(nogil=True, **options)(function)
    try:
        compiled._cache = _Kept(function, options)  # noqa: SLF001 - numba has no public way to hand it a cache
    except Exception:  # noqa: BLE001 - no folder, or another numba: compile in memory
        return compiled  # type: ignore[no-any-return]
    return compiled  # type: ignore[no-any-return]


@functools.cache
def _digest_of(file: str) -> str:
    return digest(Path(file))
