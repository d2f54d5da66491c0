"""The matching unit's part of the X2CBBR experiment: sets, runs on the simulated RTL, the paper's numbers, report."""
