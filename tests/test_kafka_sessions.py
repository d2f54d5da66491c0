"""Live sessions over real Kafka: ticks for strict order, prefixes, and what happens when Kafka is away."""

import subprocess
import sys

import pytest

import silbo
from silbo.streaming import kafka_job
from silbo.streaming.job import Options
from silbo.streaming.kafka import create_topics, located
from silbo.streaming.ticking import Ticking

pytestmark = pytest.mark.spark
SECONDS = 120  # that a notification may take on a busy machine


@pytest.fixture
def topics(kafka, request):
    """The prefix of this test's own topics."""
    prefix = f"silbo-{abs(hash(request.node.nodeid))}"
    create_topics(kafka.address, 2, prefix)
    return prefix


def test_live_sessions_in_strict_order_get_their_notifications_by_ticks(spark, kafka, topics, tmp_path):
    """Most partitions are silent for ever; the sessions' URLs name the topics' prefix."""
    url = f"kafka://{kafka.address}/{topics}"
    query = kafka_job.start(spark, kafka.address, Options(tmp_path / "checkpoint", lateness=5.0), topics)
    try:
        with (
            Ticking(kafka.address, 0.5, topics),
            silbo.connect(url, "car") as car,
            silbo.connect(url, "camera") as camera,
        ):
            car.set_context(x=1.0)
            alerts = car.subscribe("true", context="pub.x = this.x")
            camera.advertise("true")
            camera.publish({"n": 1}, context={"x": 1.0})
            car.set_context(x=2.0)
            camera.publish({"n": 2}, context={"x": 1.0})
            camera.publish({"n": 3}, context={"x": 2.0})
            assert [alerts.get(timeout=SECONDS)["n"] for _ in range(2)] == [1, 3]
    finally:
        query.stop()


def test_a_url_names_the_prefix_of_topics():
    assert located("kafka://localhost:9092/city") == ("localhost:9092", "city")
    assert located("localhost:9092") == located("localhost:9092/") == ("localhost:9092", "silbo")
    for wrong in ("a/b", "it's", " ", "x" * 201):
        with pytest.raises(silbo.InvalidValue, match="characters besides"):
            silbo.connect(f"kafka://localhost:1/{wrong}")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--log", "city", "--lateness", "2"], "live traffic over Kafka"),
        (["--kafka", "localhost:1", "--order", "arrival", "--lateness", "2"], "live traffic over Kafka"),
        (["--kafka", "localhost:1"], "Give a --lateness"),
    ],
)
def test_ticks_that_would_do_nothing_or_harm_are_refused(tmp_path, arguments, reason):
    command = [sys.executable, "-m", "silbo", "stream", "--checkpoint", str(tmp_path), "--tick", "1", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert reason in done.stderr
