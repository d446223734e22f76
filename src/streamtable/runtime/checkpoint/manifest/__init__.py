"""What `streamtable.json` holds: the queries that have written a checkpoint."""
