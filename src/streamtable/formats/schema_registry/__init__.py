"""The client of a schema registry, for the formats that end with `-confluent`."""
