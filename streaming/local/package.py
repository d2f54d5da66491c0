"""The files for `spark-submit`: silbo as a zip for the executors, and a program that runs `silbo stream`.

`python -m silbo.streaming.package FOLDER` writes both and prints how to use them. The libraries that silbo needs are
compiled and cannot be in a zip: they are installed where executors run.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

ZIP, PROGRAM = "silbo.zip", "silbo_stream.py"
CONTENT = (".py", ".xml")
TEXT = '''"""`silbo stream` for spark-submit: the same options, except --master."""

import sys

from silbo.cli import main

sys.exit(main(["stream", *sys.argv[1:]]))
'''


def package(folder: Path) -> tuple[Path, Path]:
    """Write the zip and the program into a folder, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    archive, program = folder / ZIP, folder / PROGRAM
    root = _root()
    with ZipFile(archive, "w", ZIP_DEFLATED) as written:
        for path in sorted(_files(root)):
            # without a date: the same sources give the same bytes, and kernels compiled for them stay valid
            written.writestr(ZipInfo(f"silbo/{path.relative_to(root)}"), path.read_bytes(), ZIP_DEFLATED)
    program.write_text(TEXT, encoding="utf-8")
    return archive, program


def _root() -> Path:
    spec = find_spec("silbo")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _files(folder: Path) -> Iterator[Path]:
    """The package's files; in a checkout some of its folders are symbolic links."""
    for path in folder.iterdir():
        if path.is_dir() and path.name != "__pycache__":
            yield from _files(path)
        elif path.suffix in CONTENT:
            yield path


def main() -> int:
    """Write both, and print how to use them."""
    parser = argparse.ArgumentParser(prog="python -m silbo.streaming.package", description=__doc__)
    parser.add_argument("folder", type=Path)
    archive, program = package(parser.parse_args().folder)
    print(f"spark-submit --master spark://HOST:PORT --py-files {archive} {program} --log DIR --checkpoint DIR")
    print('over Kafka: --jars "$(python -m silbo.streaming.jars)" before the program, then --kafka HOST:PORT')
    return 0
