"""Access to a Kafka cluster: admin requests, access checks, topics, consumer groups."""
