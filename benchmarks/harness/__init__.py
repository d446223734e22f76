"""What benchmarks share: brokers, topics, measurements, tables and plots of results."""
