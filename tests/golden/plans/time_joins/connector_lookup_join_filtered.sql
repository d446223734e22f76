CREATE TEMPORARY TABLE people (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'jdbc', 'url' = 'jdbc:sqlite:/data/people.db', 'table-name' = 'people'
);
CREATE TEMPORARY TABLE orders (id BIGINT, b STRING, p AS PROCTIME(),
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'orders',
  'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json', 'value.format' = 'json'
);
-- The table may change between the lookups of an update. A left join keeps its two rows together.
INSERT INTO users_copy
SELECT o.id, CHAR_LENGTH(h.name) FROM orders AS o
JOIN people FOR SYSTEM_TIME AS OF o.p AS h ON o.id = h.id WHERE o.b <> h.name;
