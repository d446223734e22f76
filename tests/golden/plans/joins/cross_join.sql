INSERT INTO places (region, place, score)
SELECT p.region, c.id, c.score FROM per_region AS p, users_copy AS c WHERE c.score > 1 AND p.n < c.id;
