"""Read a job file: YAML, variables, keys, patterns, routes and transforms; without Spark."""
