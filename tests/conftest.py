"""What holds for every test."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

import silbo
from silbo.broker.core import Core
from silbo.context.function import ContextFunction
from silbo.matching.candidates import SubscriptionRow
from silbo.matching.filter import Filter

# the same examples every time: a failure in CI is a failure here. HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

# Java compiles quickly instead of well, in every process that a test starts: none of them lives long
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")

ROOT = Path(__file__).parent.parent

# the folders hold silbo.context and so on: imported under their bare names they would be second copies
FOLDERS = ("context", "matching", "streaming", "hw")


def pytest_collection_modifyitems(items):
    """What takes long comes last: a failure elsewhere is seen first, and Spark and Kafka start once."""
    items.sort(key=lambda item: [item.get_closest_marker(name) is not None for name in ("spark", "rtl")])


@pytest.fixture(params=["fast", "plain"])
def broker(request):
    with silbo.Broker(index=request.param) as broker:
        yield broker


@pytest.fixture(scope="module", params=["fast", "fast-content", "fast-context", "churned", "plain"])
def index(request):
    """The name of an index: what holds of one holds of all. A churned one is a fast one that is not new."""
    if request.param != "churned":
        yield request.param
        return
    with pytest.MonkeyPatch.context() as patch:
        made = Core._made
        patch.setattr(Core, "_made", lambda core, wanted: churned(made(core, wanted)))
        yield "fast"


def churned(index):
    """An index after subscriptions of many kinds came and went: slots, columns, names and lists were used before."""
    function = "abs(pub.x{0} - this.x) <= {0} and this.z{0} = pub.z and msg.a > 1"
    rows = [
        SubscriptionRow(
            f"old-{i}", "old", f"s{i}", Filter.of(f'a >= {i} and b{i % 70} = "{i}" or c in (1, 2, {i})'),
            ContextFunction.of(function.format(i % 90)), (), None,
        )
        for i in range(1_000)
    ]  # fmt: skip
    for row in rows:
        index.add(row)
    for row in rows:
        index.remove(row)
        index.contexts.remove(row.subscriber)
    return index


@pytest.fixture(scope="session")
def spark():
    """One session of Spark's for all tests, with its connector to Kafka."""
    from silbo.streaming.kafka_job import spark_session

    made = spark_session(brief=True)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def kafka():
    """One Kafka for all tests, on free ports; topics are each test's own."""
    from silbo.streaming.kafka_server import Kafka

    with Kafka() as made:
        yield made


@pytest.fixture(scope="session")
def cluster():
    """One standalone cluster of Spark's for all tests: a master and two workers of one core."""
    from silbo.testing.cluster import Cluster

    with Cluster() as made:
        yield made


@pytest.fixture
def topics(kafka, request):
    """The prefix of a test's own topics, of three partitions each."""
    from silbo.streaming.kafka import create_topics

    prefix = f"silbo-{abs(hash(request.node.nodeid))}"
    create_topics(kafka.address, 3, prefix)
    return prefix


@pytest.fixture(scope="session", params=["bitmap", "list"])
def matcher(request):
    """The parameters of a matcher of full size whose simulation is compiled, in both ways to keep rows of the CRT."""
    from silbo.hw.driver.registers import CrtMode
    from silbo.hw.simulation import Parameters, library

    parameters = Parameters(crt_mode=CrtMode[request.param.upper()])
    library(parameters)
    return parameters


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """A wheel built from the sdist, as a release is."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT], check=True, capture_output=True
    )
    (built,) = out.glob("*.whl")
    return built


def imported_as_top_level(modules):
    return sorted(name for name in FOLDERS if name in modules)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    wrong = imported_as_top_level(sys.modules)
    if wrong:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\nERROR: imported as top-level modules: {', '.join(wrong)}; import silbo.{wrong[0]} instead")
