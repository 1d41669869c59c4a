"""Judging: the gate, the baselines that it judges against, and the verdict on a workload."""
