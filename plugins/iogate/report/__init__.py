"""Reports: each reads the results of a session and nothing else."""
