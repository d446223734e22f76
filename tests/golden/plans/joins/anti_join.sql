INSERT INTO users_copy
SELECT id, score FROM users AS u
WHERE NOT EXISTS (SELECT * FROM per_region AS p WHERE p.region = u.region AND p.n > u.score AND p.m = 1);
