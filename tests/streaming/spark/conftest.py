"""One Spark session, one Kafka and one cluster for all tests of this folder."""

import pytest


@pytest.fixture(scope="session")
def spark():
    """A Spark session with the Kafka connector."""
    from silbo.streaming.kafka.kafka_job import spark_session

    made = spark_session(brief=True)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def kafka():
    """A Kafka on free ports; each test has topics of its own."""
    from silbo.streaming.local.kafka_server import Kafka

    with Kafka() as made:
        yield made


@pytest.fixture(scope="session")
def cluster():
    """A standalone Spark cluster: a master and two workers of one core."""
    from silbo.testing.cluster import Cluster

    with Cluster() as made:
        yield made


@pytest.fixture
def topics(kafka, request):
    """The prefix of a test's own topics, of three partitions each."""
    from silbo.streaming.kafka.client import create_topics

    prefix = f"silbo-{abs(hash(request.node.nodeid))}"
    create_topics(kafka.address, 3, prefix)
    return prefix
