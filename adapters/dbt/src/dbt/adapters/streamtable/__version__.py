"""Version of the adapter, which dbt reads; dbt takes no `.dev0`."""

version = "0.1.0a0"
