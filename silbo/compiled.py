"""Compile kernels with numba, once, into a cache that all processes share.

Numba puts its cache next to the sources, or into a folder of the user if the sources are read-only; if
neither can be written, kernels are compiled for this process alone. Numba invalidates a cache entry only when
the file of its own function changes, so a kernel's name contains a digest of all kernel sources: a change
in any of them is never answered from an old cache. In a zip, as Spark's executors get it, the digest is that of the
zip, and the cache is a folder of the user: a zip has another path in every job, but its kernels are the same.

`SILBO_CHECKED_KERNELS=1` is the debug switch: it compiles the same kernels with bounds checking, and passes
their arrays as arrays instead of by address.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from silbo.errors import MissingPart

CHECKED = os.environ.get("SILBO_CHECKED_KERNELS", "") not in ("", "0")
# Kernels work on memory that their caller owns, and never allocate. So numba compiles them without its runtime (NRT),
# which counts a reference at each use of an array: a bulk write of contexts is 20 times as fast without it. In the
# checked mode functions return arrays, which needs the runtime.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "boundscheck": CHECKED, "_nrt": CHECKED}
ARCHIVE = next((path for path in Path(__file__).parents if path.is_file()), None)  # the zip that silbo is in


def is_compiler_installed() -> bool:
    """Whether numba is installed. It does not exist for boards with a 32-bit ARM."""
    return find_spec("numba") is not None


def check_compiler() -> None:
    """Raise if kernels cannot be compiled here."""
    if not is_compiler_installed():
        why = "It compiles the fast index. The plain one works without it: index='plain', or SILBO_INDEX=plain."
        raise MissingPart("numba", command="pip install numba", why=why)


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only kernels call. Division follows IEEE: it returns infinity or NaN, and never raises.

    It is compiled once, for integers of 8 bytes: by default numba compiles a version for each constant argument
    and each width, which takes many times as long. Python never calls it, so it needs no wrappers.
    """
    dispatcher = _dispatcher(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    template = dispatcher.get_call_template
    dispatcher.get_call_template = lambda given, named: template(_widened(given), named)
    return dispatcher  # type: ignore[no-any-return]


def _dispatcher(function: Callable[..., Any], **options: bool) -> Any:
    from numba import njit

    decorate: Any = njit
    return decorate(**OPTIONS, **options)(function)


def _widened(given: tuple[Any, ...]) -> tuple[Any, ...]:
    from numba import types

    plain: Any = types.unliteral
    return tuple(types.int64 if isinstance(plain(each), types.Integer) else each for each in given)


class Kernel:
    """A function that Python calls, compiled by the first `make`."""

    def __init__(self, function: Callable[..., Any], signature: Callable[[], Any], digest: str) -> None:
        self._function = function
        self._signature = signature
        self._digest = digest
        self.seconds = 0.0  # that compiling it, or loading it from the cache, took
        self.cached = False  # whether it came from the cache
        self.folder: str | None = None  # the folder of the cache
        self._made: Callable[..., Any] | None = None
        self._lock = threading.Lock()  # one per kernel, so that a compiled kernel never waits for another one

    @property
    def is_made(self) -> bool:
        """Whether it is ready to be called."""
        return self._made is not None

    @property
    def name(self) -> str:
        """The function's name in the sources."""
        return self._function.__name__

    def make(self) -> Callable[..., Any]:
        """Return the compiled function, from the cache or compiled now."""
        if self._made is not None:
            return self._made
        with self._lock:
            if self._made is None:
                since = time.perf_counter()
                self._made = self._compiled()
                self.seconds = time.perf_counter() - since
            return self._made

    def _compiled(self) -> Callable[..., Any]:
        function = self._function
        function.__qualname__ = f"{function.__name__}_{self._digest}{'_checked' * CHECKED}"
        if ARCHIVE is not None:
            _keep_apart_from_the_path()
        try:
            dispatcher = _dispatcher(function, cache=True)
        except RuntimeError:  # numba found no folder for its cache that it may write to
            dispatcher = _dispatcher(function)
        dispatcher.compile(self._signature())
        dispatcher.disable_compile()  # for any other arguments
        self.cached = bool(dispatcher.stats.cache_hits)
        self.folder = dispatcher.stats.cache_path
        return dispatcher  # type: ignore[no-any-return]


def digest_of(sources: Iterable[Path]) -> str:
    """A short digest of these files and this one, or of the zip that contains them."""
    digest = sha256()
    for path in sorted([Path(__file__), *sources]) if ARCHIVE is None else [ARCHIVE]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _keep_apart_from_the_path() -> None:
    """Let numba cache the kernels of every zip in one folder of the user; the kernels' names differ."""
    from numba.core import caching

    class OneFolder(caching.ZipCacheLocator):
        @classmethod
        def get_suitable_cache_subpath(cls, _: str) -> str:
            return "silbo"

        @classmethod
        def from_function(cls, function: Any, file: str) -> Any:
            if ARCHIVE not in Path(file).parents:
                return None
            made: Any = cls(function, file)
            try:
                made.ensure_cache_path()
            except OSError as error:
                raise RuntimeError from error  # the error that numba raises if it finds no folder
            return made

    known = caching.CacheImpl._locator_classes
    if not any(each.__name__ == OneFolder.__name__ for each in known):
        known.insert(0, OneFolder)
