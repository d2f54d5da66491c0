"""How verbs, a replay and a batch go through silbo: the modules that they enter, and the diagrams of ARCHITECTURE.md."""

import tomllib
from functools import partial
from itertools import count
from types import SimpleNamespace

import pyarrow as pa
import pytest

import silbo
from silbo.cli import main
from silbo.model.events import Advertise, Publish, SetContext, Subscribe
from silbo.streaming import engine
from silbo.streaming.bulk.sender import sending
from silbo.streaming.bulk.step import Settings
from silbo.streaming.local.log import Writer
from silbo.streaming.spark.host import Matcher, Routing
from silbo.streaming.topics import CONTEXTS, INPUTS, NOTIFICATIONS
from silbo.testing.own.walks import ROOT, differences, entered, forms, picture, way_to
from silbo.wire.jsonl import event_json
from silbo.wire.records import TickRecord, encode

NEAR = "abs(pub.x - this.x) <= 20 and abs(pub.y - this.y) <= 20"


def test_the_picture_of_the_layers_has_the_order_that_import_linter_checks():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (layers,) = [each["layers"] for each in settings["contracts"] if each["name"] == "Imports point downwards"]
    source = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("```mermaid\n")[1].split("```")[0]
    assert [label.partition("<br>")[0] for label in source.split('["')[1:]] == " | ".join(layers).split(" | ")


# verbs

PUBLISH = [
    "session/verbs", "model/values", "model/events", "embedded/link", "context/table", "core/core", "core/acceptance",
    "language/evaluation", "model/notification", "matching/plain", "matching/decision", "context/table",
    "language/evaluation", "language/evaluation", "session/link", "session/subscription", "session/queue",
    "model/notification",
]  # fmt: skip


@pytest.fixture(params=["plain"])
def road(request):
    with silbo.Broker(index=request.param) as broker:
        car, camera = broker.connect("car"), broker.connect("camera")
        car.set_context(x=12.0, y=40.5)
        alerts = car.subscribe('msg = "accident"', context=NEAR)
        camera.set_context(x=15.0, y=42.0)
        camera.advertise('msg = "accident"', offers=["x", "y"])
        camera.publish({"msg": "accident"})  # compiles the expressions
        alerts.get(timeout=1)
        yield car, camera, alerts


def test_a_publish_and_a_get_enter_another_module_at_most_18_times(road):
    _, camera, alerts = road
    assert entered(lambda: (camera.publish({"msg": "accident"}), alerts.get(timeout=1))) == PUBLISH
    assert len(PUBLISH) <= 18


def test_the_picture_of_a_publish_shows_its_modules():
    """It leaves out the index, which is one of several, and the modules of values and expressions."""
    left_out = ["model", "context/table", "language/evaluation", "matching/plain", "session/link"]
    assert differences(picture("What happens on publish"), PUBLISH, left_out) == []


def test_a_context_change_enters_another_module_at_most_9_times(road):
    car, _, _ = road
    assert len(entered(lambda: car.set_context(x=13.0, y=41.0))) <= 9
    assert len(entered(lambda: car.set_context(x=14.0, role="taxi"))) <= 9


@pytest.mark.parametrize("road", ["fast"], indirect=True)
def test_the_picture_of_a_context_change_shows_its_modules(road):
    car, _, _ = road
    moved = entered(lambda: car.set_context(x=13.0, y=41.0))
    changed = entered(lambda: car.set_context(x=14.0, role="taxi"))
    assert moved == ["session/verbs", "embedded/link", "context/cells"]
    assert differences(picture("What happens on set_context"), changed, ["model"]) == []


# a replay


@pytest.fixture
def replay(tmp_path, monkeypatch):
    """The command `silbo replay --engine stream`, without the job that reads the log at its end."""
    events = [
        SetContext("car", {"x": 1.0}),
        Subscribe("car", "s", "true"),
        Advertise("p", "a", "true"),
        Publish("p", {}, {}),
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(map(event_json, events)) + "\n")
    monkeypatch.setattr(engine, "_run", lambda start: None)
    return partial(main, ["replay", str(log), "--engine", "stream"])


def test_a_replayed_event_comes_to_the_log_file_in_at_most_8_hops(replay):
    """The eighth is to the module that reads the lines, and returns the events."""
    way, *_ = way_to(Writer.append, replay)  # the others are those of the ticks at the end
    assert way == [
        "cli/__init__", "cli/replay", "engines/replay", "core/fold", "core/run", "core/core", "streaming/bulk/sender",
        "streaming/local/log",
    ]  # fmt: skip
    assert len(way[1:]) + len(["wire/jsonl"]) <= 8


def test_the_picture_of_a_replay_shows_its_modules(replay):
    left_out = ["cli", "model", "language", "matching", "context", "wire", "core", "streaming"]
    way, *_ = way_to(
        Writer.append, replay
    )  # its order is that of the calls; some modules are entered when the engine opens
    assert differences(picture("What happens in a replay"), [*way, *entered(replay)], left_out) == []


# a batch of the streaming job


class Value:
    """A value in Spark's state."""

    def __init__(self):
        self.value = None

    def get(self):
        return self.value

    def update(self, value):
        self.value = value


class Map(dict):
    """A map in Spark's state."""

    updateValue = dict.__setitem__  # noqa: N815  # Spark's names, here and below
    removeKey = dict.pop  # noqa: N815
    iterator = dict.items


class Handle:
    """Spark's state of a shard, in memory."""

    def getValueState(self, *_):  # noqa: N802
        return Value()

    def getMapState(self, *_):  # noqa: N802
        return Map()


class Batches:
    """The tasks of a job with one shard, without Spark."""

    def __init__(self):
        self._sent, self._offsets, self._times = [], count(), count(1)
        self._routing = Routing((0,))
        self._matcher = Matcher(Settings("strict", partitions=((CONTEXTS, 0),)), (0,))
        self._matcher.init(Handle())
        self.fold = sending(
            lambda topic, _, record: self._sent.append((topic, encode(record))), partial(next, self._times)
        )

    def run(self):
        """Match what was sent as one batch that ends with a tick; returns the rows of the output."""
        tick = encode(TickRecord(next(self._times)))
        self._sent += [(topic, tick) for topic in INPUTS]
        rows = [
            {"topic": topic, "partition": 0, "offset": next(self._offsets), "value": value}
            for topic, value in self._sent
        ]
        self._sent.clear()
        routed = self._routing(iter([pa.RecordBatch.from_pylist(rows)]))
        chunks = [SimpleNamespace(chunk=chunk) for batch in routed for chunk in batch.column("chunk").to_pylist()]
        return list(self._matcher.handleInputRows((0,), iter(chunks), None))


@pytest.fixture
def batches():
    made = Batches()
    function = "abs(pub.x - this.x) <= 2"
    made.fold.apply([SetContext("car", {"x": 1.0}), Subscribe("car", "s", 'msg != "b"', function, ("x",))])
    made.fold.apply([Advertise("camera", "a", "true", ("x",), None)])
    made.run()
    return made


def test_the_picture_of_a_batch_shows_its_modules(batches):
    batches.fold.apply([Publish("camera", {"msg": "a"}, {"x": 1.5}), Subscribe("car", "t", "true")])
    rows = []
    walk = entered(lambda: rows.extend(batches.run()))
    assert [row.topic for row in rows] == [None, NOTIFICATIONS]
    left_out = ["wire", "model", "language", "context", "matching", "streaming/bulk/garbage"]
    assert differences(picture("What happens in a batch of the streaming job"), walk, left_out) == []


def test_a_record_has_at_most_8_forms_in_a_batch(batches):
    payload = b"an accident on the road"  # the words for the kernels have it as the attribute
    batches.fold.apply([Publish("camera", {"msg": payload.decode()}, {"x": 1.5}, None, payload)])
    made = forms(batches.run, payload)
    assert made == [
        "bytes", "PublicationRecord", "bytes", "PublicationRecord", "Arrival", "Publication", "ndarray", "bytes",
    ]  # fmt: skip
    assert len(made) <= 8
