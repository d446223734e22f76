-- Flink requires update-before rows, which the scan of an upsert table lacks.
CREATE VIEW scores AS SELECT id, region FROM users WHERE score > 1;
INSERT INTO events SELECT id, note FROM TO_CHANGELOG(
  input => TABLE scores, op => DESCRIPTOR(note), op_mapping => MAP['INSERT, UPDATE_AFTER', 'U', 'DELETE', 'D']);
