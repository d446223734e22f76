-- Several rows of one key: the last one is seen, as without the clause.
SET 'table.exec.sink.upsert-materialize' = 'NONE';
INSERT INTO per_region SELECT region, id, score FROM users ON CONFLICT DO DEDUPLICATE;
INSERT INTO per_region SELECT region, COUNT(*), 1 FROM users GROUP BY region
ON CONFLICT DO DEDUPLICATE;
