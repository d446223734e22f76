"""Commands for running jobs: `jobs`, `status`, `stop`."""
