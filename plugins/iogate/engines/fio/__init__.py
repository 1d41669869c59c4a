"""fio: its options, job files, and outputs in JSON and text."""
