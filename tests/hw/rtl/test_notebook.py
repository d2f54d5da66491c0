"""The board's notebook, run on the simulated matcher."""

import json

import pytest

from silbo.hw.build.simulation import HW
from silbo.hw.driver.sim import SimDevice

FOLDER = (HW / "boards" / "pynq-z2").resolve()


# the notebook


@pytest.fixture(scope="module")
def notebook():
    return json.loads((FOLDER / "matcher.ipynb").read_text(encoding="utf-8"))


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_its_cells_hold_on_the_simulated_matcher(notebook):
    names = {"device": SimDevice()}
    for cell in code_cells(notebook):
        code = compile("".join(cell["source"]), cell["id"], "exec")
        if "board" not in cell["metadata"].get("tags", ()):
            exec(code, names)
    assert names["driver"].usage.subscriptions == 3
    names["driver"].close()
