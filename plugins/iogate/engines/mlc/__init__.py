"""Intel's Memory Latency Checker: its options and its output."""
