"""Commands for clusters and platforms that start Spark themselves."""
