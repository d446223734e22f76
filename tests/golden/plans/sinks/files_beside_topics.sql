CREATE TABLE history (user_id BIGINT, page_id BIGINT, region STRING, file STRING METADATA FROM 'file.name' VIRTUAL)
PARTITIONED BY (region) WITH (
  'connector' = 'filesystem', 'path' = '/views/2026-*', 'format' = 'csv'
);
CREATE TABLE archive (user_id BIGINT, origin STRING, region STRING) PARTITIONED BY (region) WITH (
  'connector' = 'filesystem', 'path' = '/archive', 'format' = 'parquet'
);
INSERT INTO archive
SELECT user_id, file, region FROM history
UNION ALL SELECT user_id, 'live', user_region FROM pageviews;
