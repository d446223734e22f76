-- Rows are taken in the order of their topic.
INSERT INTO per_region SELECT region, LAST_VALUE(id), COUNT(*) FROM users GROUP BY region;
