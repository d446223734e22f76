"""The JSON formats of rows: `json` and `json-confluent`."""
