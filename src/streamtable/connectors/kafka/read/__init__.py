"""Read topics: the scan, its bounds, metadata columns and change events."""
