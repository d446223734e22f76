CREATE TABLE paid (user_id BIGINT, n INT) WITH (
  'connector' = 'kafka', 'topic' = 'paid',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
-- The time of the left rows stays one, also through a join with versions as of metadata.
CREATE TABLE regions (
  name STRING, factor INT, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  WATERMARK FOR at AS at, PRIMARY KEY (name) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'regions',
  'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE visits (
  user_id BIGINT, page_id BIGINT, region STRING, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  WATERMARK FOR at AS at - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = 'visits',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TABLE local_prices (
  page_id BIGINT, price INT, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  WATERMARK FOR at AS at, PRIMARY KEY (page_id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'local_prices',
  'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO paid
SELECT v.user_id, p.price * r.factor FROM visits AS v
JOIN local_prices FOR SYSTEM_TIME AS OF v.at AS p ON v.page_id = p.page_id
LEFT JOIN regions FOR SYSTEM_TIME AS OF v.at AS r ON UPPER(v.region) = r.name;
