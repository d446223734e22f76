"""Convert changes of tables into records of topics: keys, values, tombstones."""
