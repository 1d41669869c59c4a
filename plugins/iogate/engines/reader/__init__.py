"""The native threaded reader: its program in C, its options and its output."""
