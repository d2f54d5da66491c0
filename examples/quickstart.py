"""A car gets the alerts near it: the whole idea in ten lines."""

import silbo

broker = silbo.Broker()
car = broker.connect("car-1")
car.set_context(x=12.0, y=40.5)
alerts = car.subscribe('msg = "accident"', context="abs(pub.x - this.x) <= 20 and abs(pub.y - this.y) <= 20")
camera = broker.connect("camera-7")
camera.set_context(x=15.0, y=42.0)
camera.advertise('msg = "accident"', offers=["x", "y"])
camera.publish({"msg": "accident", "severity": 4})
print(alerts.get(timeout=1))
