-- Exact; the same calls share their state.
INSERT INTO per_region SELECT region, APPROX_COUNT_DISTINCT(id), COUNT(DISTINCT id) FROM users GROUP BY region;
