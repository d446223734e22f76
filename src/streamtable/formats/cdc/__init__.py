"""The formats of change data capture: `debezium-json`, `canal-json` and `maxwell-json`."""
