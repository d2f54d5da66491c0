"""A read-only dictionary, for the attributes and contexts that notifications and sessions return.

It is a `dict`, so `json.dumps`, `pickle`, `copy` and pattern matching accept it, and reading costs nothing extra.
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class ReadOnlyDict(dict[Key, Value]):
    """A `dict` that refuses every change; `dict(it)` is a copy that can be changed."""

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("this mapping is read-only. Copy it first: dict(…).")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a plain dictionary: `pickle` and `copy` would otherwise set items, which is refused."""
        return type(self), (dict(self),)
