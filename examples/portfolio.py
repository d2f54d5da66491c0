"""A portfolio gets the ticks it holds: trading changes the context, never the subscription."""

import silbo

broker = silbo.Broker()
exchange = broker.connect("exchange")
exchange.advertise("exists symbol and price > 0")

fund = broker.connect("fund")
ticks = fund.subscribe("price > 0", context="msg.symbol in this.holdings and msg.price >= this.floor")
fund.set_context(holdings={"ACME", "GLOBEX"}, floor=10.0)

exchange.publish({"symbol": "ACME", "price": 12.5})
exchange.publish({"symbol": "INITECH", "price": 99.0})  # not held
exchange.publish({"symbol": "GLOBEX", "price": 9.0})  # below the floor

fund.set_context(holdings={"INITECH"})  # sold everything, bought another: one table write
exchange.publish({"symbol": "ACME", "price": 13.0})
exchange.publish({"symbol": "INITECH", "price": 101.0})

for tick in ticks.drain():
    print(f"{tick['symbol']:8} {tick['price']:8.2f}")
