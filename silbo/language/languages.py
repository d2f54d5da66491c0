"""What sets the three languages apart: the names each may use."""

from __future__ import annotations

from dataclasses import dataclass

from silbo.language.tree import Namespace


@dataclass(frozen=True, slots=True)
class Language:
    """One of the three: what it is called, and the namespaces of its names (those of a filter are attributes)."""

    title: str
    namespaces: tuple[Namespace, ...]

    @property
    def is_filter(self) -> bool:
        """Filters compare attributes with constants, nothing else."""
        return "attribute" in self.namespaces

    @property
    def prefixes(self) -> str:
        """The beginnings a name may have, for messages."""
        return ", ".join(f"{namespace}." for namespace in self.namespaces)


FILTER = Language("content filter", ("attribute",))
FUNCTION = Language("context function", ("pub", "this", "msg"))
SCOPE = Language("scope", ("sub", "this", "msg"))
