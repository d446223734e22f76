CREATE TABLE scores (id BIGINT, note STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'scores', 'key.format' = 'json', 'value.format' = 'json',
  'properties.bootstrap.servers' = 'localhost:9092'
);

-- A COUNT over nothing is 0, and expressions over aggregates are computed above the join.
INSERT INTO users_copy
SELECT c.id, CAST((SELECT COUNT(*) + 1 FROM users AS u WHERE u.region = c.region AND u.id > 3) AS INT)
FROM carts AS c;

INSERT INTO users_copy
SELECT c.id, 1 FROM carts AS c
WHERE c.id > (SELECT COALESCE(MAX(score), 0) FROM users AS u WHERE UPPER(u.region) = c.region);

-- A key that the condition decides gives one row.
INSERT INTO scores SELECT c.id, (SELECT note FROM scores AS s WHERE c.id = s.id) FROM carts AS c;

-- Without rows an inner LATERAL gives none, as in Flink.
INSERT INTO per_region
SELECT p.region, x.n, y.m FROM (SELECT DISTINCT region FROM carts) AS p,
LATERAL (SELECT COUNT(*) AS n FROM users AS u WHERE u.region = p.region) AS x
LEFT JOIN LATERAL (SELECT SUM(place) FROM places WHERE places.region = p.region) AS y (m) ON TRUE;

INSERT INTO events
SELECT u.user_id, v.user_region FROM pageviews AS u
JOIN LATERAL (SELECT * FROM pageviews AS w WHERE w.user_id = u.user_id) AS v ON v.page_id > u.page_id;
