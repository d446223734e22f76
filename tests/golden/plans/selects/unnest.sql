INSERT INTO per_region
SELECT c.region, COUNT(*), SUM(i.price)
FROM carts AS c JOIN users AS u ON c.id = u.id CROSS JOIN UNNEST(c.items) AS i
WHERE u.score > 3 AND i.price > 2 GROUP BY c.region;
INSERT INTO places
SELECT k, CAST(n AS BIGINT), MAX(v)
FROM carts LEFT JOIN UNNEST(tags) WITH ORDINALITY AS t (k, v, n) ON TRUE GROUP BY k, CAST(n AS BIGINT);
INSERT INTO events SELECT x, 'x' FROM UNNEST(ARRAY[1, 2]) AS t (x);
