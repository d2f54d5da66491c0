"""How a publication goes through an offloaded match: the modules that it enters, and the diagram of ARCHITECTURE.md."""

import silbo
from silbo.testing.own.walks import differences, entered, picture


def test_the_picture_of_an_offloaded_match_shows_its_modules():
    with silbo.Broker(offload="sim") as broker:
        car, camera = broker.connect("car"), broker.connect("camera")
        car.set_context(x=12.0, y=40.5)
        alerts = car.subscribe('msg = "accident"', context="abs(pub.x - this.x) <= 20 and abs(pub.y - this.y) <= 20")
        camera.set_context(x=15.0, y=42.0)
        camera.advertise('msg = "accident"', offers=["x", "y"])
        walk = entered(lambda: camera.publish({"msg": "accident"}))
        assert alerts.get(timeout=1)["msg"] == "accident"
    left_out = ["session", "model", "context", "language", "core/acceptance", "matching"]
    assert differences(picture("What happens in an offloaded match"), walk, left_out) == []
