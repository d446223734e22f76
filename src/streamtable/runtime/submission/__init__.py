"""A job for spark-submit: its command line, its files, and the settings of a platform."""
