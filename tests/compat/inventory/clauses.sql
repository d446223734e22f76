-- Clauses, types and queries of Flink 2.2's SQL pages, each with an example.

-- chapter: Declarations of tables

-- case: column: physical, NOT NULL, COMMENT
CREATE TABLE t (a INT NOT NULL COMMENT 'one', b STRING) COMMENT 'mine' WITH ('connector' = 'print');

-- case: column: computed
CREATE TABLE t (a INT, b AS a + 1, p AS PROCTIME()) WITH ('connector' = 'datagen');

-- case: column: METADATA, FROM, VIRTUAL
CREATE TABLE t (a INT, o BIGINT METADATA FROM 'offset' VIRTUAL) LIKE events (EXCLUDING GENERATED);

-- case: WATERMARK FOR
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'datagen');

-- case: WATERMARK FOR of a field of a column
-- refused: Flink's planner refuses it, too
CREATE TABLE t (r ROW<ts TIMESTAMP(3)>, WATERMARK FOR r.ts AS r.ts) WITH ('connector' = 'datagen');

-- case: WATERMARK FOR ... AS SOURCE_WATERMARK()
-- refused: no connector of Flink's Kafka tables has watermarks of its own
CREATE TABLE t (ts TIMESTAMP(3), WATERMARK FOR ts AS SOURCE_WATERMARK())
WITH ('connector' = 'datagen');

-- case: PRIMARY KEY ... NOT ENFORCED
CREATE TABLE t (a INT NOT NULL, CONSTRAINT k PRIMARY KEY (a) NOT ENFORCED)
WITH ('connector' = 'print');

-- case: UNIQUE
-- refused: Flink's planner refuses it, too
CREATE TABLE t (a INT UNIQUE) WITH ('connector' = 'print');

-- case: PARTITIONED BY
CREATE TABLE t (a INT, b INT) PARTITIONED BY (a) WITH ('connector' = 'filesystem', 'path' = '/tmp/t', 'format' = 'json');

-- case: DISTRIBUTED BY ... INTO ... BUCKETS
-- refused: no connector here has buckets; Flink's kafka, print and blackhole refuse the INSERT
CREATE TABLE t (a INT) DISTRIBUTED BY HASH(a) INTO 4 BUCKETS WITH ('connector' = 'print');

-- case: LIKE: INCLUDING, EXCLUDING, OVERWRITING
CREATE TABLE t (c AS id + 1) WITH ('topic' = 'x')
LIKE events (INCLUDING ALL EXCLUDING CONSTRAINTS OVERWRITING OPTIONS);

-- chapter: Data types

-- case: CHAR, VARCHAR, STRING
SELECT CAST('a' AS CHAR(1)), CAST('a' AS VARCHAR(3)), CAST('a' AS STRING);

-- case: BINARY, VARBINARY, BYTES
SELECT CAST(X'0A' AS BINARY(1)), CAST(X'0A' AS VARBINARY(3)), CAST(X'0A' AS BYTES);

-- case: DECIMAL, DEC, NUMERIC
SELECT CAST(1 AS DECIMAL(38, 18)), CAST(1 AS DEC(3)), CAST(1 AS NUMERIC);

-- case: TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE
SELECT CAST(1 AS TINYINT), CAST(1 AS SMALLINT), CAST(1 AS INT), CAST(1 AS BIGINT),
  CAST(1 AS FLOAT), CAST(1 AS DOUBLE PRECISION);

-- case: BOOLEAN
SELECT CAST('true' AS BOOLEAN);

-- case: DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ up to 6 digits
SELECT CAST('2024-01-01' AS DATE), CAST('10:00:00' AS TIME(0)),
  CAST('2024-01-01 10:00:00' AS TIMESTAMP(6)), CAST('2024-01-01 10:00:00' AS TIMESTAMP_LTZ(3)),
  CAST('2024-01-01 10:00:00' AS TIMESTAMP(3) WITH LOCAL TIME ZONE);

-- case: TIMESTAMP and TIMESTAMP_LTZ of more than 6 digits, the further ones cut
SELECT CAST('2024-01-01 10:00:00.123456789' AS TIMESTAMP(9));

-- case: TIME of more than 0 digits
SELECT CAST('10:00:00.123' AS TIME(3));

-- case: TIMESTAMP WITH TIME ZONE
-- refused: Flink's SQL has no values of it
SELECT CAST('2024-01-01 10:00:00' AS TIMESTAMP(3) WITH TIME ZONE);

-- case: INTERVAL YEAR TO MONTH, DAY TO SECOND
SELECT INTERVAL '1-2' YEAR TO MONTH, INTERVAL '1 10:00:00.5' DAY TO SECOND;

-- case: ARRAY, MAP, ROW
SELECT CAST(ARRAY[1] AS ARRAY<BIGINT>), MAP['a', 1], CAST(ROW(1, 'a') AS ROW<a INT, b STRING>);

-- case: MULTISET
SELECT COLLECT(note) FROM events;

-- case: BITMAP
-- unrecorded: new in Flink 2.3
CREATE TABLE t (b BITMAP) WITH ('connector' = 'print');

-- case: VARIANT
CREATE TABLE t (v VARIANT) WITH ('connector' = 'print');

-- case: RAW
-- unrecorded: its serializer is not there
CREATE TABLE t (v RAW('java.lang.Integer', '')) WITH ('connector' = 'print');

-- case: structured types
-- refused: Flink 2.2's SQL builds them by OBJECT_OF alone
CREATE TABLE t (v STRUCTURED<'User', a INT>) WITH ('connector' = 'print');

-- chapter: Expressions

-- case: literals with escapes: E'...'
SELECT E'a\nb';

-- case: literals: U&'...', X'...', DATE, TIME, TIMESTAMP, INTERVAL
SELECT U&'\263A', X'0A', DATE '2024-01-01', TIME '10:00:00',
  TIMESTAMP '2024-01-01 10:00:00.123', INTERVAL '1' DAY;

-- case: CASE, BETWEEN, IN, LIKE, SIMILAR TO, IS DISTINCT FROM, IS JSON
SELECT CASE WHEN id BETWEEN 1 AND 2 THEN 'a' ELSE 'b' END, id IN (1, 2), note LIKE 'a%',
  note SIMILAR TO 'a+', note IS DISTINCT FROM 'b', note IS JSON FROM events;

-- case: BETWEEN SYMMETRIC
SELECT id BETWEEN SYMMETRIC 2 AND 1 FROM events;

-- case: CAST, TRY_CAST
SELECT CAST('1' AS INT), TRY_CAST('x' AS INT);

-- case: implicit casts of STRING in comparisons
SELECT note > 1 FROM events;

-- case: OVERLAPS
SELECT (DATE '2024-01-01', INTERVAL '1' DAY) OVERLAPS (DATE '2024-01-01', DATE '2024-01-02');

-- case: fields of rows, elements of arrays and maps
SELECT items[1].sku, tags['a'] FROM carts;

-- case: row.*
SELECT c.r.* FROM (SELECT ROW(id, note) AS r FROM events) AS c;

-- chapter: SELECT

-- case: SELECT ... WHERE
SELECT id AS a, note b, e.* FROM events AS e WHERE id > 1;

-- case: SELECT DISTINCT
SELECT DISTINCT note FROM events;

-- case: VALUES
VALUES (1, 'a'), (2, 'b');

-- case: VALUES in FROM
SELECT * FROM (VALUES (1, 'a')) AS t (a, b);

-- case: WITH at the head of a query
WITH a AS (SELECT id FROM users) SELECT * FROM a;

-- case: WITH in a subquery
SELECT * FROM (WITH a AS (SELECT id FROM users) SELECT * FROM a) AS s;

-- case: WITH before INSERT INTO
-- refused: Flink has no such statement; WITH stands behind INSERT INTO
WITH a AS (SELECT id, note FROM events) INSERT INTO events SELECT * FROM a;

-- case: WITH RECURSIVE
-- refused: Flink's planner refuses it, too
WITH RECURSIVE a (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM a WHERE n < 3) SELECT * FROM a;

-- case: subquery in FROM
SELECT * FROM (SELECT id FROM users) AS s (a);

-- case: scalar subquery, uncorrelated
SELECT id FROM events WHERE id > (SELECT MAX(score) FROM users);

-- case: scalar subquery, correlated
SELECT id, (SELECT MAX(score) FROM users u WHERE u.id = e.id) FROM events AS e;

-- case: IN and EXISTS with a subquery
SELECT id FROM events e WHERE id IN (SELECT id FROM users)
  AND EXISTS (SELECT 1 FROM users u WHERE u.id = e.id);

-- case: NOT IN and NOT EXISTS with a subquery
SELECT id FROM events e WHERE id NOT IN (SELECT id FROM users)
  AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = e.id);

-- case: TABLE t
TABLE users;

-- case: QUALIFY
SELECT id FROM events QUALIFY ROW_NUMBER() OVER (PARTITION BY note ORDER BY id) = 1;

-- case: TABLESAMPLE
-- refused: Flink's planner refuses it, too
SELECT * FROM events TABLESAMPLE BERNOULLI (10);

-- case: time travel: FOR SYSTEM_TIME AS OF a constant
-- refused: no connector of Kafka can read the past of a table
SELECT * FROM users FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00';

-- chapter: Aggregation

-- case: GROUP BY, HAVING
SELECT region, COUNT(*) FROM users GROUP BY region HAVING COUNT(*) > 1;

-- case: GROUPING SETS, ROLLUP, CUBE
SELECT region, score, COUNT(*) FROM users GROUP BY ROLLUP (region, score);

-- case: GROUPING, GROUPING_ID, GROUP_ID
SELECT region, GROUPING(region), GROUPING_ID(region), COUNT(*) FROM users
GROUP BY CUBE (region);

-- case: DISTINCT aggregates, FILTER
SELECT COUNT(DISTINCT score) FILTER (WHERE score > 1) FROM users;

-- case: aggregate with ORDER BY inside, WITHIN GROUP
-- refused: Flink's planner refuses it, too
SELECT LISTAGG(note) WITHIN GROUP (ORDER BY id) FROM events;

-- case: user-defined aggregate functions
-- unrecorded: the function is written in Python
CREATE TEMPORARY FUNCTION total AS 'tests.compat.inventory.example:total' LANGUAGE PYTHON;
SELECT region, total(score) FROM users GROUP BY region;

-- case: user-defined aggregate functions in Java
-- unrecorded: there is no such function
-- refused: not supported yet; write it in Python with udaf (LANGUAGE PYTHON)
CREATE TEMPORARY FUNCTION f AS 'org.example.Agg' LANGUAGE JAVA;

-- chapter: Windows

-- case: TUMBLE
SELECT window_start, COUNT(*) FROM TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' HOUR)
GROUP BY window_start, window_end;

-- case: HOP
SELECT window_start, COUNT(*)
FROM TABLE(HOP(DATA => TABLE pageviews, TIMECOL => DESCRIPTOR(viewtime),
  SLIDE => INTERVAL '1' HOUR, SIZE => INTERVAL '2' HOUR)) GROUP BY window_start, window_end;

-- case: CUMULATE
SELECT window_start, COUNT(*)
FROM TABLE(CUMULATE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end;

-- case: SESSION
SELECT user_id, window_start, COUNT(*)
FROM TABLE(SESSION(TABLE pageviews PARTITION BY user_id, DESCRIPTOR(viewtime), INTERVAL '1' HOUR))
GROUP BY user_id, window_start, window_end;

-- case: windows with an offset
SELECT window_start, COUNT(*)
FROM TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' HOUR, INTERVAL '5' MINUTE)
GROUP BY window_start, window_end;

-- case: windows of processing time
CREATE VIEW v AS SELECT *, PROCTIME() AS p FROM events;
SELECT window_start, COUNT(*) FROM TUMBLE(TABLE v, DESCRIPTOR(p), INTERVAL '1' HOUR)
GROUP BY window_start, window_end;

-- case: GROUPING SETS over windows
SELECT window_start, user_id, COUNT(*)
FROM TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' HOUR)
GROUP BY window_start, window_end, ROLLUP (user_id);

-- case: cascading windows
CREATE VIEW minutes AS SELECT window_time AS t, COUNT(*) AS n
FROM TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' MINUTE)
GROUP BY window_start, window_end, window_time;
SELECT window_start, SUM(n) FROM TUMBLE(TABLE minutes, DESCRIPTOR(t), INTERVAL '1' HOUR)
GROUP BY window_start, window_end;

-- case: window Top-N
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end
  ORDER BY page_id) AS n FROM TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' HOUR))
WHERE n <= 3;

-- case: window deduplication
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, user_id
  ORDER BY viewtime DESC) AS n
  FROM TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' HOUR)) WHERE n = 1;

-- case: window join
SELECT a.user_id FROM
  (SELECT * FROM TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' HOUR)) AS a
JOIN (SELECT * FROM TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' HOUR)) AS b
ON a.user_id = b.user_id AND a.window_start = b.window_start AND a.window_end = b.window_end;

-- case: group windows: GROUP BY TUMBLE, HOP, SESSION
SELECT TUMBLE_START(viewtime, INTERVAL '1' HOUR), COUNT(*) FROM pageviews
GROUP BY TUMBLE(viewtime, INTERVAL '1' HOUR);

-- chapter: OVER

-- case: OVER with RANGE and ROWS
SELECT COUNT(*) OVER (PARTITION BY user_id ORDER BY viewtime
  RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) FROM pageviews;

-- case: OVER with a named window
SELECT COUNT(*) OVER w FROM pageviews WINDOW w AS (PARTITION BY user_id ORDER BY viewtime);

-- case: OVER by processing time
SELECT COUNT(*) OVER (PARTITION BY note ORDER BY PROCTIME()) FROM events;

-- case: OVER of a changing input, by columns
SELECT SUM(score) OVER (PARTITION BY region ORDER BY score) FROM users;

-- chapter: Joins

-- case: INNER, LEFT, RIGHT, FULL and CROSS JOIN
SELECT * FROM events e FULL JOIN users u ON e.id = u.id;

-- case: JOIN ... USING, NATURAL JOIN
SELECT * FROM events NATURAL JOIN users_copy;

-- case: joins without an equality
SELECT * FROM events e JOIN users u ON e.id < u.id;

-- case: a join in parentheses
SELECT * FROM users_copy c LEFT JOIN (events e JOIN users u ON e.id = u.id) ON c.id = u.id;

-- case: interval join
SELECT a.user_id FROM pageviews a JOIN pageviews b ON a.user_id = b.user_id
AND a.viewtime BETWEEN b.viewtime - INTERVAL '1' HOUR AND b.viewtime;

-- case: temporal join by event time
CREATE TABLE rates (c STRING, r INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (c) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'r',
  'properties.bootstrap.servers' = 'l:1', 'key.format' = 'json', 'value.format' = 'json');
SELECT * FROM pageviews p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.viewtime AS r
ON p.user_region = r.c;

-- case: several temporal joins as of one event time
CREATE TABLE rates (c STRING, r INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (c) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'r',
  'properties.bootstrap.servers' = 'l:1', 'key.format' = 'json', 'value.format' = 'json');
SELECT * FROM pageviews p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.viewtime AS a
ON p.user_region = a.c LEFT JOIN rates FOR SYSTEM_TIME AS OF p.viewtime AS b
ON p.user_region = b.c;

-- case: temporal join of a left table with updates and deletes
CREATE TABLE rates (c STRING, r INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (c) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'r',
  'properties.bootstrap.servers' = 'l:1', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE orders (id INT, c STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'o',
  'properties.bootstrap.servers' = 'l:1', 'key.format' = 'json', 'value.format' = 'json');
SELECT o.id, r.r FROM orders o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.c = r.c;

-- case: temporal table function join
-- refused: such a function is registered by a program in Java, never in SQL
SELECT * FROM pageviews p, LATERAL TABLE (rates(p.viewtime)) AS r WHERE p.user_region = r.c;

-- case: lookup join
-- unrecorded: none of the connectors in Flink itself can be looked up in
CREATE VIEW names AS SELECT * FROM (VALUES (1, 'a')) AS t (id, name);
SELECT * FROM (SELECT *, PROCTIME() AS p FROM events) AS e
JOIN names FOR SYSTEM_TIME AS OF e.p AS n ON e.id = n.id;

-- case: CROSS JOIN UNNEST, LEFT JOIN UNNEST
SELECT id, sku FROM carts CROSS JOIN UNNEST(items) AS i (sku, price);

-- case: UNNEST ... WITH ORDINALITY
SELECT id, n FROM carts CROSS JOIN UNNEST(items) WITH ORDINALITY AS i (sku, price, n);

-- case: LATERAL with a correlated subquery
SELECT u.id, e.note FROM users u, LATERAL (SELECT note FROM events e WHERE e.id = u.id) AS e;

-- case: LATERAL with ORDER BY and LIMIT, the first rows of each key
SELECT k.id, e.note FROM (SELECT DISTINCT id FROM events) AS k, LATERAL (SELECT note FROM events
WHERE id = k.id ORDER BY note LIMIT 3) AS e;

-- case: table functions: LATERAL TABLE(f(...))
-- unrecorded: the function is written in Python
CREATE TEMPORARY FUNCTION split_words AS 'tests.compat.inventory.example:split_words' LANGUAGE PYTHON;
SELECT * FROM events, LATERAL TABLE(split_words(note)) AS t (word);

-- case: process table functions
-- unrecorded: there is no such function
SELECT * FROM f(input => TABLE events PARTITION BY id ORDER BY note, on_time => DESCRIPTOR(note));

-- chapter: Sets and order

-- case: UNION, UNION ALL
SELECT id FROM users UNION ALL SELECT id FROM events;

-- case: INTERSECT, INTERSECT ALL
SELECT id FROM users INTERSECT ALL SELECT id FROM events;

-- case: EXCEPT, EXCEPT ALL
SELECT id FROM users EXCEPT SELECT id FROM events;

-- case: ORDER BY ... LIMIT, OFFSET, FETCH
SELECT id FROM users ORDER BY id DESC LIMIT 3;

-- case: ORDER BY an ascending time attribute, without LIMIT
SELECT user_id FROM pageviews ORDER BY viewtime;

-- case: ORDER BY anything else without LIMIT
-- refused: Flink refuses it for streams, too
SELECT id FROM users ORDER BY id;

-- case: LIMIT without ORDER BY
SELECT id FROM users LIMIT 3;

-- case: Top-N by ROW_NUMBER
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY region ORDER BY score DESC) AS n
FROM users) WHERE n <= 3;

-- case: Top-N by RANK and DENSE_RANK
-- refused: Flink refuses them for streams, too
SELECT * FROM (SELECT *, RANK() OVER (PARTITION BY region ORDER BY score DESC) AS n
FROM users) WHERE n <= 3;

-- case: deduplication
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY viewtime) AS n
FROM pageviews) WHERE n = 1;

-- case: MATCH_RECOGNIZE
SELECT * FROM pageviews MATCH_RECOGNIZE (PARTITION BY user_id ORDER BY viewtime
MEASURES A.page_id AS first_page ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
PATTERN (A B+ C) DEFINE A AS page_id = 1, B AS page_id > 1, C AS page_id < 1);

-- chapter: Hints

-- case: OPTIONS
SELECT * FROM events /*+ OPTIONS('scan.startup.mode' = 'earliest-offset') */;

-- case: STATE_TTL with texts
SELECT /*+ STATE_TTL('e' = '2h', 'u' = '1d') */ * FROM events e JOIN users u ON e.id = u.id;

-- case: STATE_TTL with bare identifiers
SELECT /*+ STATE_TTL(e = '2h', u = '1d') */ * FROM events e JOIN users u ON e.id = u.id;

-- case: LOOKUP
-- unrecorded: none of the connectors in Flink itself can be looked up in
CREATE VIEW names AS SELECT * FROM (VALUES (1, 'a')) AS t (id, name);
SELECT /*+ LOOKUP('table' = 'names', 'async' = 'true') */ *
FROM (SELECT *, PROCTIME() AS p FROM events) AS e
JOIN names FOR SYSTEM_TIME AS OF e.p AS n ON e.id = n.id;

-- case: BROADCAST, SHUFFLE_HASH, SHUFFLE_MERGE, NEST_LOOP
SELECT /*+ BROADCAST(u) */ * FROM events e JOIN users u ON e.id = u.id;

-- chapter: Models

-- case: ML_PREDICT
-- unrecorded: there is no model
SELECT * FROM ML_PREDICT(TABLE events, MODEL m, DESCRIPTOR(note));

-- case: VECTOR_SEARCH
-- unrecorded: there is no model
SELECT * FROM events, LATERAL TABLE(VECTOR_SEARCH(TABLE users, DESCRIPTOR(id), id, 3));
