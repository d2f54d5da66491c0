"""What holds for every test."""

import os
import sys

import pytest
from hypothesis import settings

import silbo

# the same examples every time: a failure in CI is a failure here. HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# the folders hold silbo.context and so on: imported under their bare names they would be second copies
FOLDERS = ("context", "matching", "streaming", "hw")


@pytest.fixture(params=["fast", "plain"])
def broker(request):
    with silbo.Broker(index=request.param) as broker:
        yield broker


@pytest.fixture(scope="module", params=["fast", "fast-content", "fast-context", "plain"])
def index(request):
    """The name of an index: what holds of one holds of all."""
    return request.param


def imported_as_top_level(modules):
    return sorted(name for name in FOLDERS if name in modules)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    wrong = imported_as_top_level(sys.modules)
    if wrong:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\nERROR: imported as top-level modules: {', '.join(wrong)}; import silbo.{wrong[0]} instead")
