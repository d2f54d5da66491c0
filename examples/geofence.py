"""Couriers get the orders inside their delivery zone, a shapely polygon that changes with the shift."""

from shapely import Point, box

import silbo

broker = silbo.Broker()
shop = broker.connect("shop")
shop.advertise('kind = "order"', offers=["where"])

courier = broker.connect("courier")
orders = courier.subscribe('kind = "order" and weight <= 5', context="within(pub.where, this.zone)")

for shift, zone in {"morning": box(0, 0, 10, 10), "evening": Point(20, 20).buffer(5)}.items():
    courier.set_context(zone=zone)
    for number, (x, y) in enumerate([(3, 4), (10, 10), (22, 21), (40, 40)], 1):
        shop.set_context(where=Point(x, y))
        shop.publish({"kind": "order", "number": number, "weight": 2})
    print(shift, [order["number"] for order in orders.drain()])
