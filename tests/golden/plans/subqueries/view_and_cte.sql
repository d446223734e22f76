CREATE VIEW scored AS SELECT id, region, score * 2 AS doubled FROM users;
INSERT INTO per_region
WITH best AS (SELECT region AS r, doubled FROM scored WHERE doubled > 1)
SELECT r, COUNT(*), SUM(doubled) FROM best GROUP BY r;
