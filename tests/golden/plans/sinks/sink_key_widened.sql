-- The sink's key is that of the groups, made a BIGINT: nothing needs to be brought into order.
INSERT INTO users_copy SELECT score, CAST(COUNT(*) AS INT) FROM users GROUP BY score;
