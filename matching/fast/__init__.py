"""The fast index: subscriptions in arrays, matched by compiled kernels."""
