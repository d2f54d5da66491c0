"""The mutations themselves: what each breaks stands where it says. `make mutations` tries them."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
_spec = importlib.util.spec_from_file_location("mutations", ROOT / "tests" / "mutations.py")
mutations = sys.modules["mutations"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mutations)


@pytest.mark.parametrize("mutation", mutations.MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_breaks_one_place(mutation):
    assert (ROOT / mutation.file).read_text(encoding="utf-8").count(mutation.old) == 1
