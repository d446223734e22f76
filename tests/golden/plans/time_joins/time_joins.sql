CREATE TABLE prices (
  page_id BIGINT, price INT, at TIMESTAMP(3),
  WATERMARK FOR at AS at, PRIMARY KEY (page_id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'prices',
  'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE clicks (
  user_id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = 'clicks',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TABLE views (
  user_id BIGINT, at TIMESTAMP(3), WATERMARK FOR at AS at - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = 'views',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TABLE paid (user_id BIGINT, n INT) WITH (
  'connector' = 'kafka', 'topic' = 'paid',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);

-- Versions come as upserts; what ON asks beside the key is asked of the version of the moment.
INSERT INTO paid
SELECT v.user_id, p.price
FROM pageviews AS v
LEFT JOIN prices FOR SYSTEM_TIME AS OF v.viewtime AS p ON v.page_id = p.page_id AND p.price > 0;

INSERT INTO paid
SELECT v.user_id, 1 FROM views AS v
JOIN clicks AS c ON c.user_id = v.user_id AND c.at BETWEEN v.at AND v.at + INTERVAL '1' HOUR;

INSERT INTO paid
SELECT v.user_id, 1 FROM views AS v
LEFT JOIN clicks AS c
ON c.user_id = v.user_id AND c.at > v.at AND v.at + INTERVAL '1' HOUR > c.at AND c.user_id > v.user_id - 1;

-- One bound is none: such a join keeps every row.
INSERT INTO paid
SELECT v.user_id, 1 FROM views AS v JOIN clicks AS c ON c.user_id = v.user_id AND c.at > v.at;
