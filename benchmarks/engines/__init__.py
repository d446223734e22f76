"""The engines that a benchmark compares: streamtable, Flink, bare Spark, Debezium."""
