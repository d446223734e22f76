-- Rows that are only added: the first of each key is kept. The second query has one row for each key.
INSERT INTO per_region SELECT note, id, 1 FROM events ON CONFLICT DO NOTHING;
INSERT INTO per_region SELECT region, COUNT(*), 1 FROM users GROUP BY region
ON CONFLICT DO NOTHING;
INSERT INTO per_region SELECT region, COUNT(*), 2 FROM users GROUP BY region
ON CONFLICT DO ERROR;
