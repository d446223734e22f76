INSERT INTO users_copy
SELECT id, score - (SELECT MIN(score) FROM users_copy) FROM users
WHERE score < (SELECT AVG(score) FROM users);
INSERT INTO per_region
SELECT region, COUNT(*), (SELECT MAX(n) FROM per_region) FROM users GROUP BY region
HAVING COUNT(*) > (SELECT MIN(n) FROM per_region);
