"""The broker in the process: the core that decides, the queues that deliver, and the public API over both."""
