INSERT INTO per_region SELECT region, COUNT(*), MAX(score) FROM users GROUP BY region;
