"""Memory under load: the program in C, its options and its output."""
