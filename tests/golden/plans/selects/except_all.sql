-- As many copies as are left, into a table of complete changes.
CREATE TABLE left_over (region STRING) WITH (
  'connector' = 'kafka', 'topic' = 'left_over', 'format' = 'debezium-json',
  'properties.bootstrap.servers' = 'localhost:9092'
);
INSERT INTO left_over
SELECT region FROM users EXCEPT ALL SELECT user_region FROM pageviews;
