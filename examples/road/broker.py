"""The road scenario on the broker in this process: every alert is there when the camera's `publish` returns.

Cars tell their position every minute and never subscribe again: the index is not touched. In the end everything the
cars got is compared with the oracle, which reads the broker's own record of what happened.
"""

from __future__ import annotations

import argparse
import time

from traffic import Road, add_options
from verdict import disagrees

import silbo
from silbo.matching.plain import PlainIndex
from silbo.model.events import Event


def drive(road: Road, minutes: int) -> tuple[float, float]:
    """All cars drive, some cameras publish; the seconds spent on context changes and on publishing."""
    moving = publishing = 0.0
    for _ in range(minutes):
        begin = time.perf_counter()
        road.drive()
        moved = time.perf_counter()
        road.publish()
        moving, publishing = moving + moved - begin, publishing + time.perf_counter() - moved
    return moving, publishing


def main() -> int:
    """Drive, print a summary, and fail if the oracle disagrees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser, cars=400, cameras=60, minutes=120)
    options = parser.parse_args()

    events: list[Event] = []
    index = PlainIndex()  # it counts its changes; it has no kernels, so it matches more slowly than the default index
    with silbo.Broker(record=events.append, index=index) as broker:
        road = Road(options.seed)
        road.connect(broker, options.cars, options.cameras)
        changes = index.changes
        moving, publishing = drive(road, options.minutes)
        changes = index.changes - changes
        stats = broker.stats()
        got = [alert for car in road.cars for alerts in car.alerts for alert in alerts.drain()]
    print(f"{options.cars} cars and {options.cameras} cameras, {options.minutes} minutes")
    moves, published = options.cars * options.minutes, stats["published"]
    each = moving / max(moves, 1) * 1e6
    print(f"  context changes  {moves:>8,}   {each:8.1f} µs each; they changed the index {changes} times")
    each = publishing / max(published, 1) * 1e6
    print(f"  publications     {published:>8,}   {each:8.1f} µs each, by the plain index in Python")
    print(f"  notifications    {len(got):>8,}")
    print("comparing with the oracle ...")
    return int(disagrees(events, got))


if __name__ == "__main__":
    raise SystemExit(main())
