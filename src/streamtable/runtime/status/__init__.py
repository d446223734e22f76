"""Status of jobs: the document that a running job writes, and its readers. Needs no Spark."""
