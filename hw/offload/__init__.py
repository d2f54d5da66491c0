"""Offload: how a broker uses the matcher. Subscriptions that fit are on the device, the others in a software index."""
