"""Who takes matching off a broker: makers of indexes over a device, by name.

The broker knows no device. Who does (`silbo.hw`) is above it, and puts its makers in here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias

from silbo.context.table import ContextTable
from silbo.errors import InvalidValue
from silbo.matching.candidates import Candidates, Deciding


class Offloading(Deciding, Protocol):
    """An index over a device."""

    def stats(self) -> dict[str, Any]:
        """Figures, under `offload`."""

    def close(self) -> None:
        """Let the device go."""


# given the broker's contexts and what makes the index beside the device; None where there is no device to be had
Maker: TypeAlias = Callable[[ContextTable, Callable[[], Candidates]], Offloading | None]
OffloadLike: TypeAlias = Literal["sim", "pynq", "auto"] | Maker

MAKERS: dict[str, Maker] = {}


def maker_of(offload: OffloadLike) -> Maker:
    """A maker, or the one of a name that there is."""
    if callable(offload):
        return offload
    if not isinstance(offload, str) or offload not in MAKERS:
        raise InvalidValue("offload", f"expected one of {', '.join(MAKERS)}, not {offload!r}.")
    return MAKERS[offload]
