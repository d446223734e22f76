"""Write topics: the writer, its producer, partitioners, transactions and rollback."""
