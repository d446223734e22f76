CREATE TEMPORARY TABLE clicks (k BIGINT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'clicks', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
CREATE TEMPORARY TABLE rates (k BIGINT, rate INT, at TIMESTAMP(3), WATERMARK FOR at AS at, PRIMARY KEY (k) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'rates', 'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json', 'value.format' = 'json');
CREATE TEMPORARY VIEW first_clicks AS
SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM clicks) WHERE n = 1;
CREATE TEMPORARY VIEW rated AS
SELECT c.k, c.ts, a.rate + b.rate AS rate FROM clicks AS c
LEFT JOIN rates FOR SYSTEM_TIME AS OF c.ts AS a ON c.k = a.k
JOIN rates FOR SYSTEM_TIME AS OF c.ts AS b ON c.v = b.k;
-- windows of first rows
INSERT INTO users_copy SELECT k, CAST(COUNT(*) AS INT) FROM TABLE(TUMBLE(TABLE first_clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
-- windows of numbered rows
INSERT INTO users_copy SELECT k, CAST(MAX(n) AS INT) FROM TABLE(TUMBLE((SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM clicks), DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
-- windows of temporal joins
INSERT INTO users_copy SELECT k, SUM(rate) FROM TABLE(TUMBLE(TABLE rated, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
-- interval join of first rows and a temporal join
INSERT INTO users_copy SELECT a.k, b.rate FROM first_clicks AS a JOIN rated AS b ON a.k = b.k AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '1' HOUR;
-- without an operator that waits
INSERT INTO users_copy SELECT k, rate FROM rated;
