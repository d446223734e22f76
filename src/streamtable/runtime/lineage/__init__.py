"""Lineage of a job as OpenLineage events: the datasets that each query reads and writes."""
