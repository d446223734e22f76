INSERT INTO per_region
SELECT region, COUNT(*), MAX(i.price)
FROM carts LEFT JOIN UNNEST(items) AS i ON i.price > 2 AND i.sku <> region GROUP BY region;
INSERT INTO events SELECT x, 'x' FROM UNNEST(ARRAY[1, 2]) AS x;
