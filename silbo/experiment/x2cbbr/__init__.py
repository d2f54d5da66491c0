"""X2CBBR's experiment, the matching unit's part of it: sets, runs on the simulated RTL, the paper's numbers, report."""
