"""The checks: each a small function from the evidence to findings."""
