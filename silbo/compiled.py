"""How kernels are compiled: by numba, once, into a cache that every process shares.

Numba keeps its cache beside the sources, or in a folder of the user where that one is read-only; where
neither can be written, kernels are compiled for this process alone. A cache entry of numba's knows only
the file of its own function, so the digest of every kernel source is part of a kernel's name: no change
anywhere is ever answered from an old cache. In a zip, as executors of Spark's get it, the digest is the zip's, and
the cache a folder of the user: a zip has another path in every job, and its kernels are the same.

`SILBO_CHECKED_KERNELS=1` is the debug switch: the same kernels with bounds checking, and with their
arrays passed plainly instead of by address.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

CHECKED = os.environ.get("SILBO_CHECKED_KERNELS", "") not in ("", "0")
ARCHIVE = next((path for path in Path(__file__).parents if path.is_file()), None)  # the zip that silbo is in


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that kernels call. Division follows IEEE: what is no finite number is found out, not raised.

    It is compiled once, for integers of 8 bytes: numba by itself makes one for each constant it is called
    with and for each width, which takes many times as long. Python never calls it, so it needs no wrappers.
    """
    from numba import njit

    options: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    dispatcher: Any = njit(error_model="numpy", boundscheck=CHECKED, **options)(function)
    template = dispatcher.get_call_template
    dispatcher.get_call_template = lambda given, named: template(_widened(given), named)
    return dispatcher  # type: ignore[no-any-return]


def _widened(given: tuple[Any, ...]) -> tuple[Any, ...]:
    from numba import types

    plain: Any = types.unliteral
    return tuple(types.int64 if isinstance(plain(each), types.Integer) else each for each in given)


class Kernel:
    """A function for Python to call, compiled at its first call or by `make`."""

    def __init__(self, function: Callable[..., Any], signature: Callable[[], Any], digest: str) -> None:
        self._function = function
        self._signature = signature
        self._digest = digest
        self.seconds = 0.0  # that compiling, or loading from the cache, took
        self.cached = False  # whether it came from the cache
        self.folder: str | None = None  # where it is kept
        self._made: Callable[..., Any] | None = None
        self._lock = threading.Lock()  # its own: who has a kernel does not wait for one that others compile

    @property
    def is_made(self) -> bool:
        """Whether it is ready to be called."""
        return self._made is not None

    @property
    def name(self) -> str:
        """What it is called in the sources."""
        return self._function.__name__

    def make(self) -> Callable[..., Any]:
        """The compiled function: from the cache, or compiled now and kept there."""
        if self._made is not None:
            return self._made
        with self._lock:
            if self._made is None:
                since = time.perf_counter()
                self._made = self._compiled()
                self.seconds = time.perf_counter() - since
            return self._made

    def _compiled(self) -> Callable[..., Any]:
        from numba import njit

        function = self._function
        function.__qualname__ = f"{function.__name__}_{self._digest}{'_checked' * CHECKED}"
        options: Any = {"error_model": "numpy", "boundscheck": CHECKED}
        if ARCHIVE is not None:
            _keep_apart_from_the_path()
        try:
            dispatcher: Any = njit(cache=True, **options)(function)
        except RuntimeError:  # numba found no folder for its cache that it may write to
            dispatcher = njit(**options)(function)
        dispatcher.compile(self._signature())
        dispatcher.disable_compile()  # for any other arguments
        self.cached = bool(dispatcher.stats.cache_hits)
        self.folder = dispatcher.stats.cache_path
        return dispatcher  # type: ignore[no-any-return]


def digest_of(sources: Iterable[Path]) -> str:
    """A short digest of these files and this one, or of the zip that they are in."""
    digest = sha256()
    for path in sorted([Path(__file__), *sources]) if ARCHIVE is None else [ARCHIVE]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _keep_apart_from_the_path() -> None:
    """Let numba keep the kernels of a zip in one folder of the user's: their names tell them apart."""
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
                raise RuntimeError from error  # as numba says it where it finds no folder
            return made

    known = caching.CacheImpl._locator_classes
    if not any(each.__name__ == OneFolder.__name__ for each in known):
        known.insert(0, OneFolder)
