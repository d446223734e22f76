-- Without a materializer, the old row of an update still deletes its key, as in Flink.
SET 'table.exec.sink.upsert-materialize' = 'NONE';
INSERT INTO users_copy SELECT score, CAST(id AS INT) FROM users;
INSERT INTO users_copy SELECT id, score FROM users UNION ALL SELECT m, 1 FROM per_region;

-- A filter over changes of different records takes them one by one.
INSERT INTO users_copy SELECT id, 1 FROM FROM_CHANGELOG(input => TABLE events,
  op => DESCRIPTOR(note)) WHERE id > 5;

-- The key of the query: no row before is needed.
INSERT INTO users_copy SELECT id, score FROM users;
