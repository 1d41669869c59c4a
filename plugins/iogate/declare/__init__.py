"""What people declare: suites, workloads, devices, and the JSON Schemas of their files."""
