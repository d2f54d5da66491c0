"""Settings for all tests: marks and worker groups by folder, fixed Hypothesis examples, and shared fixtures.

`make test` runs two workers (pytest-xdist). Tests of one group run on one worker, one after the other, so that they
share one Spark session, one Kafka and the compiled simulations.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

import silbo
from silbo.context.function import ContextFunction
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.choice import ChosenIndex
from silbo.matching.filter import Filter

# Use the same examples in every run, so that a failure in CI can be repeated here. HYPOTHESIS_PROFILE=explore
# generates new ones.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# Let Java compile fast instead of optimising, since no Java process of a test lives long.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

HERE = Path(__file__).parent
ROOT = HERE.parent

# These folders are the packages silbo.context and so on. Importing one under its bare name would load a second copy.
FOLDERS = ("context", "matching", "streaming", "hw")

# The tests of these folders get a mark and run as one group. The longest group starts first, so that no worker is
# left waiting for it at the end.
MARKS = {"streaming/spark": "spark", "hw/rtl": "rtl", "hw/synthesis": "synthesis", "papers/x2cbbr": "rtl"}

# Files whose tests share a fixture that takes long to build: all tests of such a file run on one worker.
SHARING = ("papers/siena/test_siena.py", "house/test_packaging.py")


def mark_of(file):
    """The mark of a test file's folder, or None; the file is given relative to the tests."""
    return next((mark for folder, mark in MARKS.items() if file.startswith(folder + "/")), None)


class ByGroup(LoadScopeScheduling):
    """Hands a group of tests to a worker as a whole, and every other test on its own."""

    def _split_scope(self, nodeid):
        file = nodeid.partition("::")[0].removeprefix("tests/")
        return mark_of(file) or (file if file in SHARING else nodeid)


def pytest_xdist_make_scheduler(config, log):
    return ByGroup(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Give each test its folder's mark, and run the groups first."""
    order = [*MARKS.values(), None]
    marks = {item: mark_of(item.path.relative_to(HERE).as_posix()) for item in items}
    for item, mark in marks.items():
        if mark is not None:
            item.add_marker(mark)
    items.sort(key=lambda item: order.index(marks[item]))


@pytest.fixture(params=["fast", "plain"])
def broker(request):
    with silbo.Broker(index=request.param) as broker:
        yield broker


@pytest.fixture(scope="module", params=["fast", "fast-content", "fast-context", "churned", "plain"])
def index(request):
    """The name of an index; every test must hold for each of them. "churned" is a fast index that was used before."""
    if request.param != "churned":
        yield request.param
        return
    with pytest.MonkeyPatch.context() as patch:
        made = ChosenIndex.made
        patch.setattr(ChosenIndex, "made", lambda chosen, wanted: churned(made(chosen, wanted)))
        yield "fast"


def churned(index):
    """Add and remove many kinds of subscriptions, so that slots, columns, names and lists have been used before."""
    function = "abs(pub.x{0} - this.x) <= {0} and this.z{0} = pub.z and msg.a > 1"
    rows = [
        SubscriptionRow(
            f"old-{i}", "old", f"s{i}", Filter.of(f'a >= {i} and b{i % 70} = "{i}" or c in (1, 2, {i})'),
            ContextFunction.of(function.format(i % 90)), (),
        )
        for i in range(1_000)
    ]  # fmt: skip
    for row in rows:
        index.add(row)
    for row in rows:
        index.remove(row)
        index.contexts.remove(row.subscriber)
    return index


def not_sources(folder, names):
    """What a copy of the sources leaves out; only at the root is `build` the result of a build."""
    results = {"build", "dist", "out"} if Path(folder) == ROOT else set()
    return {name for name in names if name.startswith(".") or name.endswith(".egg-info")} | results | {"__pycache__"}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """A wheel that is built from the sdist, like a release.

    The build works on a copy of the sources: it writes into its folder, and both workers may build at the same time.
    """
    folder = tmp_path_factory.mktemp("dist")
    sources, out = folder / "sources", folder / "out"
    shutil.copytree(ROOT, sources, symlinks=True, ignore=not_sources)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, sources]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = out.glob("*.whl")
    return built


def imported_as_top_level(modules):
    return sorted(name for name in FOLDERS if name in modules)


SESSION = pytest.StashKey()


def pytest_sessionstart(session):
    session.config.stash[SESSION] = session


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Fail a run that imported a folder under its bare name; a worker reports what it imported to the main process."""
    wrong = imported_as_top_level(sys.modules)
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["top_level"] = wrong
    refuse_top_level(session, wrong)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Called in the main process when a worker has ended."""
    reported = getattr(node, "workeroutput", {}).get("top_level", [])
    refuse_top_level(node.config.stash[SESSION], reported)


def refuse_top_level(session, wrong):
    if wrong:
        session.testsfailed += 1  # a parallel run computes its exit status from this
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\nERROR: imported as top-level modules: {', '.join(wrong)}; import silbo.{wrong[0]} instead")
