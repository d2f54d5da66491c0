"""Couriers get the orders on their way, matched on the simulated hardware; the first run compiles it.

Each courier's subscription sits on the device: its words in the CAM, its place in a row of the contextManager memory.
Where a courier rides on, one row is written, and nothing else.
"""

import silbo

NEAR = "abs(pub.x - this.x) <= 500 and abs(pub.y - this.y) <= 500"

with silbo.Broker(offload="sim") as broker:
    couriers = {name: broker.connect(name) for name in ("ines", "jon", "kim")}
    orders = {
        name: courier.subscribe('kind = "order" and cold = false and weight <= 8', context=NEAR)
        for name, courier in couriers.items()
    }
    kitchen = broker.connect("kitchen")
    kitchen.set_context(x=1_000, y=2_000)
    kitchen.advertise('kind = "order"')

    couriers["ines"].set_context(x=900, y=1_800)
    couriers["jon"].set_context(x=4_000, y=2_100)
    kitchen.publish({"kind": "order", "number": 1, "cold": False, "weight": 3})
    couriers["jon"].set_context(x=1_200, y=2_100)
    kitchen.publish({"kind": "order", "number": 2, "cold": False, "weight": 5})
    kitchen.publish({"kind": "order", "number": 3, "cold": False, "weight": 12})

    for name, subscription in orders.items():
        print(name, [order["number"] for order in subscription.drain()])
    figures = broker.stats()["offload"]
    print(
        f"{figures['device']} of {len(orders)} subscriptions on the device, which found {figures['matches']} candidates"
    )
