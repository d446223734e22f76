-- The input has updates and deletes, so each aggregate counts its elements.
INSERT INTO per_region SELECT region, BITMAP_BUILD_CARDINALITY_AGG(CAST(id AS INT)), BITMAP_CARDINALITY(BITMAP_OR_AGG(BITMAP_BUILD(ARRAY[CAST(id AS INT), 1]))) FROM users GROUP BY region;
