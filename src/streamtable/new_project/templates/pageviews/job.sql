CREATE TABLE pageviews (
  user_id INT,
  region INT
) WITH (
  'connector' = 'datagen',
  'rows-per-second' = '10',
  'fields.user_id.min' = '1',
  'fields.user_id.max' = '100',
  'fields.region.min' = '1',
  'fields.region.max' = '5'
);

CREATE TABLE views_per_region (
  region INT,
  pv BIGINT,
  uv BIGINT,
  PRIMARY KEY (region) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = '@NAME@',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json',
  'value.format' = 'json'
);

INSERT INTO views_per_region
SELECT region, COUNT(*), COUNT(DISTINCT user_id) FROM pageviews GROUP BY region;
