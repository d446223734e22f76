"""Metrics of a job: names, values, Prometheus endpoint, and counts of omitted records."""
