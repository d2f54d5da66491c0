"""The tables of a core in the paper's notation: ⟨who; what; which context⟩."""

from __future__ import annotations

from collections.abc import Iterable

from silbo.core.core import Core
from silbo.model.texts import value_text


def tables(core: Core) -> str:
    """The advertisement, subscription and contextManager tables, one row per line."""
    named = {client.uuid: client.name for client in core.clients.values()}
    return "\n".join(
        [
            *_table("advertisement table  ⟨publisher; A; offers; reads⟩", _advertisements(core)),
            *_table("subscription table  ⟨subscriber; f; f_cp; include⟩", _subscriptions(core)),
            *_table("contextManager table  ⟨UUID; values⟩", _contexts(core, named)),
        ]
    )


def _table(title: str, rows: Iterable[str]) -> list[str]:
    return [title, *(f"  ⟨{row}⟩" for row in rows)]


def _advertisements(core: Core) -> Iterable[str]:
    for client in core.clients.values():
        for row in client.advertisements.values():
            yield f"{client.name}; {row.filter}; {_names(row.offers)}; {_names(row.reads)}"


def _subscriptions(core: Core) -> Iterable[str]:
    for client in core.clients.values():
        for row in client.subscriptions.values():
            yield f"{client.name}; {row.filter}; {row.function or '∅'}; {', '.join(row.include) or '∅'}"


def _contexts(core: Core, named: dict[str, str]) -> Iterable[str]:
    for uuid, values in core.contexts:
        known = f" ({named[uuid]})" if named.get(uuid, uuid) != uuid else ""
        yield f"{uuid}{known}; {', '.join(f'{name} = {value_text(value)}' for name, value in values.items())}"


def _names(names: frozenset[str] | None) -> str:
    return "all" if names is None else ", ".join(sorted(names)) or "∅"
