"""The `datagen` connector: generates rows, for trying a query without a topic."""
