"""The pages: their links lead somewhere, their programs run, and the index lists all of them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("docs", "silbo", "context", "matching", "streaming", "hw")
PAGES = sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])
LINK = re.compile(r"\]\(([^)\s]+)\)")
PROGRAM = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def text_of(page):
    """The text of a page without its programs, because brackets in programs are not links."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """The anchors that GitHub generates for the headings."""
    headings = re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_links_of_a_page_lead_somewhere(page):
    broken = []
    for link in LINK.findall(text_of(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_the_index_links_every_page_of_the_folder():
    index = ROOT / "docs" / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in LINK.findall(text_of(index))}
    assert sorted({*(ROOT / "docs").glob("*.md")} - linked - {index}) == []


@pytest.mark.parametrize("name", ["testing.md", "adding-an-engine.md"])
def test_the_programs_of_a_page_run(name, tmp_path):
    """The programs run as one test file, so that the tests in them run too."""
    program = tmp_path / "test_page.py"
    program.write_text("\n".join(PROGRAM.findall((ROOT / "docs" / name).read_text(encoding="utf-8"))))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "SILBO_INDEX": "plain"},  # no kernels to load or compile
    )
    assert done.returncode in (0, 5), done.stdout  # 5: the page has no tests
