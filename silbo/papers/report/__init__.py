"""The parts that the reports of all papers share: pages and pictures."""
