CREATE TEMPORARY TABLE readings (k BIGINT, ms BIGINT, s DOUBLE, ts AS TO_TIMESTAMP_LTZ(ms, 3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'readings', 'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json');
INSERT INTO users_copy SELECT k, CAST(COUNT(*) AS INT) FROM TABLE(TUMBLE(TABLE readings, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY k, window_start, window_end;
INSERT INTO users_copy SELECT k, 1 FROM readings WHERE TO_TIMESTAMP_LTZ(s, 0) < TO_TIMESTAMP_LTZ(k, 0) AND FROM_UNIXTIME(k) <> '';
