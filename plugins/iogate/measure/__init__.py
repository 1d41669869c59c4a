"""Measuring: a session of trials, each a workload on its way to a verdict, on a bench."""
