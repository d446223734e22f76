INSERT INTO per_region (n, region) SELECT COUNT(*), region FROM users GROUP BY region;
