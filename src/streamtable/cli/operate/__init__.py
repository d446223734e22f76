"""Commands for jobs and their checkpoints, such as `jobs`, `stop`, `upgrade` and `prove`."""
