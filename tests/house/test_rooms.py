"""Every room has a README.md that names each of its files and sub-rooms once, and nothing else.

A room is a folder of sources. An entry is a line of a list or of a table that begins with a name in backticks.
"""

import ast
import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("silbo", "context", "matching", "streaming", "hw")
ENTRY = re.compile(r"^(?:- |\| )`([^`]+)`", re.MULTILINE)
BENCHES = "test_*.py"  # the one pattern that may stand for files: a bench is named after its module


def is_source(path):
    """Whether a path belongs to the sources, and not to what an editor, Python or Vivado wrote."""
    parts = path.relative_to(ROOT).parts
    if any(part.startswith(".") or part == "__pycache__" for part in parts):
        return False
    return parts[:2] != ("hw", "boards") or (path.suffix not in (".bit", ".hwh") and "build" not in parts)


def rooms():
    """The folders that have files of their own, without those that are reached through a link."""
    found = [path for folder in FOLDERS for path in [ROOT / folder, *(ROOT / folder).rglob("*")]]
    return sorted(path for path in found if path.is_dir() and not path.is_symlink() and has_files(path))


def has_files(folder):
    return any(each.is_file() and is_source(each) for each in folder.iterdir())


def has_sources(folder):
    """Whether there are sources below; a folder that was moved may still have compiled files of Python."""
    return any(each.is_file() and is_source(each) for each in folder.rglob("*"))


def name_of(room):
    return room.relative_to(ROOT).as_posix()


def is_docstring_only(path):
    return len(ast.parse(path.read_text(encoding="utf-8")).body) <= 1


def contents(room):
    """What a README has to name: the files, and the sub-rooms with a slash at their end."""
    found = set()
    for path in filter(is_source, room.iterdir()):
        if path.is_dir() and has_sources(path):
            found.add(f"{path.name}/")
        elif (
            path.is_file() and path.name != "README.md" and not (path.name == "__init__.py" and is_docstring_only(path))
        ):
            found.add(path.name)
    return found


@pytest.mark.parametrize("room", rooms(), ids=name_of)
def test_the_readme_of_a_room_names_each_of_its_files_once_and_nothing_else(room):
    named = ENTRY.findall((room / "README.md").read_text(encoding="utf-8"))
    found = contents(room)
    if BENCHES in named:
        found = {BENCHES if fnmatch(name, BENCHES) else name for name in found}
    assert sorted(named) == sorted(found)


def test_every_room_is_one_that_this_test_finds():
    assert {"silbo", "silbo/cli/hw", "context", "matching/fast/kernels", "hw/rtl/pmu"} <= set(map(name_of, rooms()))
