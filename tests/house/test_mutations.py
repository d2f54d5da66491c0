"""Each mutation still finds its text in the sources. `make mutations` runs the mutations."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("mutations", ROOT / "tests" / "mutations.py")
mutations = sys.modules["mutations"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mutations)


@pytest.mark.parametrize("mutation", mutations.MUTATIONS, ids=lambda mutation: mutation.name)
def test_the_text_of_a_mutation_occurs_once(mutation):
    assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.old) == 1
