"""WITH options of tables over Kafka: declarations, checks, and their mapping to table fields."""
