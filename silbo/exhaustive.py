"""`assert_never`, for the end of a `match` that names every case: the type checker reports a missing case.

`typing.assert_never` does the same, but needs Python 3.11; silbo also runs on 3.10, which PYNQ images have.
"""

from __future__ import annotations

from typing import NoReturn


def assert_never(value: NoReturn) -> NoReturn:
    """Fail; the type checker proves that this call is never reached."""
    raise AssertionError(f"no case of a match takes {value!r}. Add one.")
