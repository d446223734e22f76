-- A statement of each kind, for the mutations.
CREATE TABLE pageviews (user_id BIGINT, viewtime TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL,
  cost AS user_id * 2 COMMENT 'c', r ROW<x INT, y ARRAY<STRING NOT NULL>> NOT NULL,
  PRIMARY KEY (user_id) NOT ENFORCED, WATERMARK FOR viewtime AS viewtime - INTERVAL '2' SECOND
) COMMENT 'views' WITH ('connector' = 'kafka', 'topic' = 'pageviews');
CREATE TEMPORARY VIEW IF NOT EXISTS v (a) AS SELECT 1;
INSERT INTO per_region (a, b) SELECT user_region, COUNT(*) FROM pageviews GROUP BY user_region;
EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b VALUES (1); END;
SET 'a' = 'b'; RESET 'a'; DROP TABLE IF EXISTS x; EXPLAIN CHANGELOG_MODE SELECT 1;
