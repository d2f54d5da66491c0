"""The kernels that Python calls. Few, since each is compiled by itself; their signatures are fixed.

`silbo warm` makes them all; who needs one first makes it then.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import Any

from silbo.compiled import Kernel, digest_of, say
from silbo.context import cells, scalars
from silbo.matching.kernels import search, store
from silbo.matching.kernels.handles import handle_type

_DIGEST = digest_of([*Path(__file__).parent.glob("*.py"), Path(cells.__file__), Path(scalars.__file__)])


def _whole_numbers(count: int) -> Any:
    """The signature: a handle and so many integers in, an integer out."""
    from numba import int64

    return int64(handle_type(), *[int64] * count)


def change(t, what, which, how):
    """Everything that is rare, in one kernel: each of its own would be compiled with all that it calls."""
    if what == REMOVE:
        return store.remove(t, which)
    if what == UNFILE_FAMILY:
        return store.unfile_family(t, which, how)
    if what == FILE_FAMILY:
        return store.file_family(t, which)
    return store.rehash(t)


NOTICE = 1.5  # seconds: loading from the cache takes less

REMOVE, UNFILE_FAMILY, FILE_FAMILY, REHASH = 0, 1, 2, 3

RUN = Kernel(search.run, lambda: _whole_numbers(2), _DIGEST)
ADD = Kernel(store.add, lambda: _whole_numbers(3), _DIGEST)
CHANGE = Kernel(change, lambda: _whole_numbers(3), _DIGEST)


def made() -> tuple[Callable[..., int], Callable[..., int], Callable[..., int]]:
    """`run`, `add` and `change`, compiled; whoever waits for it is told why."""
    notice = Timer(
        NOTICE, say, ["silbo: compiling its kernels, once; this takes some seconds (silbo warm does it ahead)"]
    )
    notice.daemon = True
    notice.start()
    try:
        return RUN.make(), ADD.make(), CHANGE.make()
    finally:
        notice.cancel()
