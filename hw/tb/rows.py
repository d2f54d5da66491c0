"""The memories that FSM3 works on, played by the bench: a row that is read arrives with the next edge."""

from __future__ import annotations

from types import SimpleNamespace

from silbo.hw.tb.module import Module


class RowMemories:
    """The rows of the CRT and their numbers of visitors, connected to FSM3."""

    def __init__(self, fsm: Module, has_visitor_ports: bool) -> None:
        self._fsm = fsm
        self._has_visitor_ports = has_visitor_ports
        self.rows: dict[int, int] = {}
        self.visitors: dict[int, int] = {}
        self._read = {"row": 0, "visitors": 0}

    async def step(self, **inputs: int) -> SimpleNamespace:
        """Run one cycle, and do the reads and writes that FSM3 asks for."""
        seen = await self._fsm.step(**self._read, **inputs)
        if seen.read:
            self._read["row"] = self.rows.get(seen.read_address, 0)
        if seen.read_visitors if self._has_visitor_ports else seen.read:
            self._read["visitors"] = self.visitors.get(seen.read_address, 0)
        if seen.write:
            self.rows[seen.write_address] = seen.write_row
        if self._has_visitor_ports and seen.write_visitors_valid:
            self.visitors[seen.write_visitors_address] = seen.write_visitors
        elif not self._has_visitor_ports and seen.write:
            self.visitors[seen.write_address] = seen.write_visitors
        return seen
