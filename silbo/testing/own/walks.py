"""Walks through silbo: the modules that a call enters, the forms that a message has on its way, and their pictures.

The pictures are the Mermaid diagrams of ARCHITECTURE.md. The label of a node that stands for a module begins with the
module's path below `silbo/`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import silbo

ROOT = Path(silbo.__file__).resolve().parents[1]
OWN = f"{ROOT}/silbo/"
NODE = re.compile(r'(\w+)\["([^"]+)"\]')
LARGEST = 2**16  # items of bytes or of an array that are searched for a payload
ARROW = re.compile(r"\s*(-->|-\.->)\s*")


def module_of(frame: FrameType | None) -> str | None:
    """The module of a frame, as its path below `silbo/`, or None for the code of others, of tests, and of an import."""
    file = "" if frame is None or frame.f_code.co_name == "<module>" else frame.f_code.co_filename
    is_on_the_way = file.startswith(OWN) and not file.startswith(f"{OWN}testing/")
    return file.removeprefix(OWN).removesuffix(".py") if is_on_the_way else None


def callers(frame: FrameType | None) -> Iterator[str]:
    """The modules of silbo that a frame was called through, from the innermost outwards."""
    while frame is not None:
        module = module_of(frame)
        if module is not None:
            yield module
        frame = frame.f_back


def entered(work: Callable[[], object]) -> list[str]:
    """The modules that a call entered from another module of silbo, or from outside, in their order."""
    modules: list[str] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        module = module_of(frame)
        if event == "call" and module is not None and next(callers(frame.f_back), None) != module:
            modules.append(module)

    with _profiled(profile):
        work()
    return modules


def way_to(function: Callable[..., object], work: Callable[[], object]) -> list[list[str]]:
    """The modules from the outermost caller to a function, for each different way on which a call came to it."""
    ways: list[list[str]] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is function.__code__:
            way = [module for module, _ in groupby([*callers(frame)][::-1])]
            if way not in ways:
                ways.append(way)

    with _profiled(profile):
        work()
    return ways


def forms(work: Callable[[], object], payload: bytes) -> list[str]:
    """The types of the objects that were the message with this payload, in their order.

    Such an object is bytes or an array that contains the payload and more, has it as its attribute `payload`, or has
    a `record` of this kind. Neighbours of one type are one form: a part of some bytes, or a copy. Lists and tuples are
    no forms: msgpack reads and returns the fields of a record as such.
    """
    seen: list[Any] = []

    def profile(frame: FrameType, event: str, result: Any) -> None:
        if event == "return" and module_of(frame) is not None:
            for value in (*frame.f_locals.values(), result):
                if _is_form(value, payload) and not any(value is each for each in seen):
                    seen.append(value)

    with _profiled(profile):
        work()
    return [name for name, _ in groupby(type(each).__name__ for each in seen)]


def _is_form(value: Any, payload: bytes) -> bool:
    if isinstance(value, bytes | np.ndarray):
        return len(payload) < len(value) <= LARGEST and payload in bytes(value)
    record = getattr(value, "record", None)
    return getattr(value, "payload", None) == payload or getattr(record, "payload", None) == payload


@contextmanager
def _profiled(profile: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


class Picture(NamedTuple):
    """A Mermaid diagram: its modules, and the solid arrows between modules. A dotted arrow is no call."""

    modules: list[str]
    arrows: list[tuple[str, str]]


def picture(heading: str) -> Picture:
    """The first Mermaid diagram under a heading of ARCHITECTURE.md."""
    section = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split(f"\n## {heading}\n")[1]
    source = section.split("```mermaid\n")[1].split("```")[0]
    labels = {node: label.partition("<br>")[0] for node, label in NODE.findall(source)}
    modules = {node: label for node, label in labels.items() if (ROOT / "silbo" / f"{label}.py").is_file()}
    assert [label for node, label in labels.items() if "/" in label and node not in modules] == []
    arrows = []
    for line in NODE.sub(r"\1", source).splitlines():
        first, *rest = ARROW.split(line.strip())
        for arrow, second in zip(rest[::2], rest[1::2], strict=True):
            if arrow == "-->" and first in modules and second in modules:
                arrows.append((modules[first], modules[second]))
            first = second
    return Picture([*modules.values()], arrows)


def differences(shown: Picture, walk: Collection[str], left_out: Collection[str]) -> list[str]:
    """How a picture differs from a walk: modules that it lacks or has too many, and arrows against the order.

    `left_out` are folders and modules that the picture need not show.
    """
    order = list(dict.fromkeys(walk))
    missing = [
        f"{module} is not in the picture"
        for module in order
        if module not in shown.modules and not any(_is_in(module, each) for each in left_out)
    ]
    wrong = [f"{module} is not on the walk" for module in shown.modules if module not in order]
    places = {module: place for place, module in enumerate(order)}
    back = [
        f"{first} comes after {second}"
        for first, second in shown.arrows
        if places.get(first, 0) > places.get(second, len(order))
    ]
    needless = [each for each in left_out if not any(_is_in(module, each) for module in order)]
    unused = [f"nothing of {each} is on the walk" for each in needless]
    return [*missing, *wrong, *back, *unused]


def _is_in(module: str, folder: str) -> bool:
    return module == folder or module.startswith(f"{folder}/")
