"""iozone: its options, and the outputs of its two modes."""
