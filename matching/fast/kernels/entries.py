"""The kernels that Python calls. There are few, since each is compiled separately; their signatures are fixed.

`silbo warm` compiles them all; otherwise the first caller does.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import Any

from silbo.compiled import Kernel, digest_of
from silbo.context import cells, scalars, writing
from silbo.context.bulk import WRITE
from silbo.language import evaluation
from silbo.matching.fast.kernels import search, store
from silbo.matching.fast.kernels.handles import handle_type

log = logging.getLogger("silbo")

# every file whose code or constants are compiled into a kernel
_ELSEWHERE = (cells, scalars, writing, evaluation)
_SOURCES = [*Path(__file__).parent.glob("*.py"), *(Path(str(each.__file__)) for each in _ELSEWHERE)]
_DIGEST = digest_of(_SOURCES)

NOTICE = 1.5  # seconds before a warning is logged; loading from the cache takes less
REMOVE, UNFILE_FAMILY, FILE_FAMILY, REHASH = 0, 1, 2, 3  # operations of `change`


def _whole_numbers(count: int) -> Any:
    """The signature of a kernel: it takes a handle and `count` integers, and returns an integer."""
    from numba import int64

    return int64(handle_type(), *[int64] * count)


def change(t, what, which, how):
    """Run one of the rare operations. They share a kernel, since each kernel is compiled with all that it calls."""
    if what == REMOVE:
        return store.remove(t, which)
    if what == UNFILE_FAMILY:
        return store.unfile_family(t, which, how)
    if what == FILE_FAMILY:
        return store.file_family(t, which)
    return store.rehash(t)


RUN = Kernel(search.run, lambda: _whole_numbers(2), _DIGEST)
ADD = Kernel(store.add, lambda: _whole_numbers(3), _DIGEST)
CHANGE = Kernel(change, lambda: _whole_numbers(3), _DIGEST)
KERNELS = (RUN, ADD, CHANGE, WRITE)


def made() -> tuple[Callable[..., int], Callable[..., int], Callable[..., int]]:
    """Compile all kernels, and return `run`, `add` and `change`. Logs a warning if that takes long."""
    if not all(kernel.is_made for kernel in KERNELS):
        _make()
    return RUN.make(), ADD.make(), CHANGE.make()


def _make() -> None:
    notice = Timer(NOTICE, log.warning, ["silbo is compiling its matching kernels, once; `silbo warm` does it ahead"])
    notice.daemon = True
    notice.start()
    try:
        for kernel in KERNELS:
            kernel.make()
    finally:
        notice.cancel()
