"""The connector `lines` and the format `psv` for streamtable."""
