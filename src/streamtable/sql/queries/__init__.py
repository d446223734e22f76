"""Query parser: hints, FROM, and the SELECT block."""
