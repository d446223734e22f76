-- A case is what follows a line `-- case: name`: statements that set the scene, and a last one
-- whose answer is recorded. Each case begins with an empty session.
-- case: show tables
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TEMPORARY TABLE a WITH ('topic' = 'y') LIKE b;
CREATE VIEW v AS SELECT a FROM b;
SHOW TABLES;
-- case: show tables of nothing
SHOW TABLES;
-- case: show tables like
CREATE TABLE orders (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE other LIKE orders;
SHOW TABLES LIKE 'ord%';
-- case: show tables not like
CREATE TABLE orders (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE other LIKE orders;
SHOW TABLES FROM default_database NOT LIKE 'o_ders';
-- case: show tables in another database
CREATE DATABASE d;
CREATE TABLE d.t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
SHOW TABLES IN d;
-- case: show views
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE VIEW v AS SELECT a FROM b;
CREATE TEMPORARY VIEW u AS SELECT a FROM v;
SHOW VIEWS;
-- case: show catalogs
SHOW CATALOGS;
-- case: show databases
CREATE DATABASE IF NOT EXISTS d COMMENT 'c';
SHOW DATABASES;
-- case: show current catalog
SHOW CURRENT CATALOG;
-- case: show current database
CREATE DATABASE d;
USE d;
SHOW CURRENT DATABASE;
-- case: use another catalog
CREATE CATALOG c WITH ('type' = 'generic_in_memory');
USE CATALOG c;
SHOW CURRENT DATABASE;
-- case: use a database of another catalog
CREATE CATALOG c WITH ('type' = 'generic_in_memory', 'default-database' = 'e');
USE c.e;
SHOW CURRENT CATALOG;
-- case: describe
CREATE TABLE t (
  id BIGINT COMMENT 'the key', name STRING NOT NULL, price DECIMAL(10, 2), n AS price * 2,
  ts TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL, `offset` BIGINT METADATA VIRTUAL,
  h MAP<STRING, BYTES> METADATA FROM 'headers', r ROW<a INT, b ARRAY<STRING>>,
  PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'debezium-json');
DESCRIBE t;
-- case: describe without comments
CREATE TABLE t (id BIGINT, p AS PROCTIME(), PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'key.format' = 'json', 'value.format' = 'json');
DESC t;
-- case: describe a view
CREATE TABLE b (a INT NOT NULL, c STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE VIEW v AS SELECT c, a AS d FROM b;
DESCRIBE v;
-- case: show columns
CREATE TABLE t (id BIGINT COMMENT 'the key', name STRING, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'key.format' = 'json', 'value.format' = 'json');
SHOW COLUMNS FROM t;
-- case: show columns like
CREATE TABLE t (id BIGINT, name STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
SHOW COLUMNS IN t LIKE 'n%';
-- case: show columns not like
CREATE TABLE t (id BIGINT, name STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
SHOW COLUMNS IN t NOT LIKE 'n%';
-- case: show create table
CREATE TABLE t (
  id BIGINT COMMENT 'the key''s', `my name` STRING NOT NULL, price DECIMAL(10, 2), n AS price * 2 COMMENT 'twice',
  ts TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL, h MAP<STRING, BYTES> METADATA FROM 'headers',
  CONSTRAINT k PRIMARY KEY (id) NOT ENFORCED, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
COMMENT 'all'
WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'debezium-json', 'properties.ssl.key.password' = 'hidden');
SHOW CREATE TABLE t;
-- case: show create temporary table
CREATE TEMPORARY TABLE t (a INT, b INT, PRIMARY KEY (a, b) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'key.format' = 'json', 'value.format' = 'json');
SHOW CREATE TABLE t;
-- case: show create view
CREATE TABLE b (a INT NOT NULL, c STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE VIEW v (x, y) COMMENT 'a view' AS SELECT c, a AS d FROM b WHERE a > 1;
SHOW CREATE VIEW v;
-- case: like with everything
CREATE TABLE b (a INT, c AS a + 1, o BIGINT METADATA FROM 'offset' VIRTUAL, ts TIMESTAMP(3), PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR ts AS ts)
WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE t (d STRING) WITH ('topic' = 'y') LIKE b;
SHOW CREATE TABLE t;
-- case: like without most
CREATE TABLE b (a INT, c AS a + 1, o BIGINT METADATA FROM 'offset' VIRTUAL, ts TIMESTAMP(3), PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR ts AS ts)
WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE t (c STRING) WITH ('connector' = 'kafka', 'topic' = 'y', 'properties.bootstrap.servers' = 's:1', 'format' = 'json') LIKE b (EXCLUDING ALL);
SHOW CREATE TABLE t;
-- case: like overwriting
CREATE TABLE b (a INT, c AS a + 1, o BIGINT METADATA FROM 'offset' VIRTUAL, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t (c AS a + 2, o INT METADATA FROM 'partition' VIRTUAL, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
LIKE b (OVERWRITING GENERATED OVERWRITING METADATA OVERWRITING WATERMARKS INCLUDING OPTIONS);
SHOW CREATE TABLE t;
-- case: like excluding some
CREATE TABLE b (a INT, c AS a + 1, o BIGINT METADATA FROM 'offset' VIRTUAL, ts TIMESTAMP(3), PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR ts AS ts) COMMENT 'of b'
WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE t (PRIMARY KEY (ts) NOT ENFORCED) LIKE b (EXCLUDING ALL INCLUDING OPTIONS INCLUDING METADATA);
SHOW CREATE TABLE t;
-- case: like a second key
CREATE TABLE b (a INT, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE t (PRIMARY KEY (a) NOT ENFORCED) LIKE b;
-- case: like a column that is there
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t (a STRING) LIKE b;
-- case: like a computed column that is there
CREATE TABLE b (a INT, c AS a) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t (c AS a + 1) LIKE b;
-- case: like a computed for a physical column
CREATE TABLE b (a INT, c INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t (c AS a + 1) LIKE b (OVERWRITING GENERATED);
-- case: like options twice
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t WITH ('topic' = 'y') LIKE b (INCLUDING OPTIONS);
-- case: like overwriting constraints
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t LIKE b (OVERWRITING CONSTRAINTS);
-- case: like a feature twice
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t LIKE b (INCLUDING OPTIONS EXCLUDING OPTIONS);
-- case: like a view
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE VIEW v AS SELECT * FROM b;
CREATE TABLE t WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json') LIKE v;
-- case: alter set
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t SET ('topic' = 'y', 'properties.group.id' = 'g');
SHOW CREATE TABLE t;
-- case: alter reset
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json', 'properties.group.id' = 'g');
ALTER TABLE t RESET ('properties.group.id', 'not.there');
SHOW CREATE TABLE t;
-- case: alter reset connector
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t RESET ('connector');
-- case: alter reset nothing
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t RESET ();
-- case: alter rename
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t RENAME TO u;
SHOW TABLES;
-- case: alter rename into another database
CREATE DATABASE d;
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t RENAME TO d.u;
SHOW TABLES IN d;
-- case: alter rename onto another
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE u LIKE t;
ALTER TABLE t RENAME TO u;
-- case: alter a temporary table
CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t SET ('topic' = 'y');
SHOW CREATE TABLE t;
-- case: alter rename a temporary table
CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t RENAME TO u;
SHOW TABLES;
-- case: alter a view as a table
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE VIEW v AS SELECT * FROM b;
ALTER TABLE v SET ('topic' = 'y');
-- case: alter if exists
ALTER TABLE IF EXISTS t SET ('topic' = 'y');
SHOW TABLES;
-- case: alter rename column
CREATE TABLE t (a INT COMMENT 'c', b INT, PRIMARY KEY (a) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'key.format' = 'json', 'value.format' = 'json');
ALTER TABLE t RENAME a TO k;
SHOW CREATE TABLE t;
-- case: alter rename column that is not there
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t RENAME b TO c;
-- case: alter rename column to another
CREATE TABLE t (a INT, b INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t RENAME a TO b;
-- case: alter rename column of a computed one
CREATE TABLE t (a INT, b AS a + 1) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t RENAME a TO c;
-- case: alter rename column of the watermark
CREATE TABLE t (a TIMESTAMP(3), WATERMARK FOR a AS a) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t RENAME a TO c;
-- case: alter add columns
CREATE TABLE t (a INT, b INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t ADD (c STRING COMMENT 'c' FIRST, d AS a + b AFTER a, e BIGINT METADATA FROM 'offset' VIRTUAL, f INT NOT NULL AFTER c);
SHOW CREATE TABLE t;
-- case: alter add one column
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t ADD b STRING;
SHOW CREATE TABLE t;
-- case: alter add key and watermark
CREATE TABLE t (a INT, ts TIMESTAMP(3)) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'debezium-json');
ALTER TABLE t ADD (PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE);
SHOW CREATE TABLE t;
-- case: alter add a column that is there
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t ADD a STRING;
-- case: alter add after nothing
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t ADD b STRING AFTER c;
-- case: alter add a second key
CREATE TABLE t (a INT, b INT, PRIMARY KEY (a) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'key.format' = 'json', 'value.format' = 'json');
ALTER TABLE t ADD PRIMARY KEY (b) NOT ENFORCED;
-- case: alter add a second watermark
CREATE TABLE t (a TIMESTAMP(3), WATERMARK FOR a AS a) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t ADD WATERMARK FOR a AS a;
-- case: alter modify
CREATE TABLE t (a INT COMMENT 'old', b INT, ts TIMESTAMP(3), PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR ts AS ts)
WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'key.format' = 'json', 'value.format' = 'json');
ALTER TABLE t MODIFY (a BIGINT, b STRING NOT NULL COMMENT 'new' FIRST, PRIMARY KEY (b) NOT ENFORCED, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND);
SHOW CREATE TABLE t;
-- case: alter modify a column that is not there
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t MODIFY b STRING;
-- case: alter modify no key
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t MODIFY PRIMARY KEY (a) NOT ENFORCED;
-- case: alter modify no watermark
CREATE TABLE t (a TIMESTAMP(3)) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t MODIFY WATERMARK FOR a AS a;
-- case: alter drop columns
CREATE TABLE t (a INT, b AS a, c INT, d INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t DROP (a, b, c);
SHOW CREATE TABLE t;
-- case: alter drop one column
CREATE TABLE t (a INT, c INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t DROP c;
SHOW CREATE TABLE t;
-- case: alter drop a column twice
CREATE TABLE t (a INT, b INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t DROP (a, a);
-- case: alter drop a key column
CREATE TABLE t (a INT, b INT, PRIMARY KEY (a) NOT ENFORCED)
WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'key.format' = 'json', 'value.format' = 'json');
ALTER TABLE t DROP a;
-- case: alter drop a column in use
CREATE TABLE t (a INT, b AS a, c AS a + 1) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t DROP (a, c);
-- case: alter drop the column of the watermark
CREATE TABLE t (a TIMESTAMP(3), b INT, WATERMARK FOR a AS a) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t DROP a;
-- case: alter drop key and watermark
CREATE TABLE t (a INT, ts TIMESTAMP(3), CONSTRAINT c PRIMARY KEY (a) NOT ENFORCED, WATERMARK FOR ts AS ts) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'debezium-json');
ALTER TABLE t DROP CONSTRAINT c;
ALTER TABLE t DROP WATERMARK;
SHOW CREATE TABLE t;
-- case: alter drop no key
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t DROP PRIMARY KEY;
-- case: alter drop no watermark
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
ALTER TABLE t DROP WATERMARK;
-- case: alter drop another constraint
CREATE TABLE t (a INT, CONSTRAINT c PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'debezium-json');
ALTER TABLE t DROP CONSTRAINT d;
-- case: alter view rename
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE VIEW v AS SELECT * FROM b;
ALTER VIEW v RENAME TO w;
SHOW VIEWS;
-- case: alter view as
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE VIEW v AS SELECT * FROM b;
ALTER VIEW v AS SELECT a + 1 AS c FROM b;
DESCRIBE v;
-- case: a temporary table hides another
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TEMPORARY TABLE t (b INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
SHOW COLUMNS FROM t;
-- case: drop the temporary table
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TEMPORARY TABLE t (b INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
DROP TEMPORARY TABLE t;
SHOW COLUMNS FROM t;
-- case: drop a hidden table
CREATE TABLE t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TEMPORARY TABLE t (b INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
DROP TABLE t;
-- case: drop a temporary table as a permanent one
CREATE TEMPORARY TABLE t (b INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
DROP TABLE t;
-- case: drop a view as a table
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE VIEW v AS SELECT * FROM b;
DROP TABLE v;
-- case: drop if exists
DROP TABLE IF EXISTS t;
DROP VIEW IF EXISTS v;
DROP TEMPORARY TABLE IF EXISTS u;
SHOW TABLES;
-- case: create a table in no database
CREATE TABLE d.t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
-- case: create a temporary table in no database
CREATE TEMPORARY TABLE d.t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
SHOW TABLES;
-- case: create a database twice
CREATE DATABASE d;
CREATE DATABASE d;
-- case: drop a database with tables
CREATE DATABASE d;
CREATE TABLE d.t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
DROP DATABASE d;
-- case: drop a database and its tables
CREATE DATABASE d;
CREATE TABLE d.t (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
DROP DATABASE d CASCADE;
SHOW DATABASES;
-- case: drop the current database
CREATE DATABASE d;
USE d;
DROP DATABASE d;
-- case: drop the current catalog
CREATE CATALOG c WITH ('type' = 'generic_in_memory');
USE CATALOG c;
DROP CATALOG c;
-- case: drop a catalog
CREATE CATALOG c WITH ('type' = 'generic_in_memory');
DROP CATALOG c;
SHOW CATALOGS;
-- case: drop the database that was there first
CREATE DATABASE d;
USE d;
DROP DATABASE default_database;
SHOW DATABASES;
-- case: use a database that is not there
USE d;
-- case: use a catalog that is not there
USE CATALOG c;
-- case: create table as
CREATE TABLE b (a INT NOT NULL, c STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t (k BIGINT, n AS a + 1, c VARCHAR(9), PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'key.format' = 'json', 'value.format' = 'json') AS SELECT a, c, a + 1 AS d FROM b;
SHOW CREATE TABLE t;
-- case: create table as with names
CREATE TABLE b (a INT NOT NULL, c STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t (d, a, c) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json') AS SELECT a, c, a + 1 AS d FROM b;
SHOW CREATE TABLE t;
-- case: create table as with too few names
CREATE TABLE b (a INT NOT NULL, c STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t (c) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json') AS SELECT a, c FROM b;
-- case: create table as with another name
CREATE TABLE b (a INT NOT NULL, c STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t (a, d) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json') AS SELECT a, c FROM b;
-- case: create table as with a column that cannot be empty
CREATE TABLE b (a INT NOT NULL, c STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t (k BIGINT NOT NULL) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json') AS SELECT a, c FROM b;
-- case: create table as with an unfit type
CREATE TABLE b (a INT NOT NULL, c STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TABLE t (a DATE) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json') AS SELECT a, c FROM b;
-- case: create temporary table as
CREATE TABLE b (a INT NOT NULL, c STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE TEMPORARY TABLE t WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json') AS SELECT a, c FROM b;
-- case: create a view twice
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE VIEW v AS SELECT a FROM b;
CREATE VIEW b AS SELECT a FROM v;
-- case: a view keeps its database
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE VIEW v AS WITH w AS (SELECT a FROM b) SELECT a AS c FROM w;
CREATE DATABASE d;
USE d;
DESCRIBE default_database.v;
-- case: a view of nothing
CREATE VIEW v AS SELECT a FROM nowhere;
-- case: show tables in no database
SHOW TABLES FROM d;
-- case: show user functions
SHOW USER FUNCTIONS;
-- case: show create of a view as a table
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE VIEW v AS SELECT a FROM b;
SHOW CREATE TABLE v;
-- case: show views in a catalog's database
CREATE CATALOG c WITH ('type' = 'generic_in_memory');
CREATE TABLE b (a INT) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
CREATE VIEW c.`default`.v AS SELECT a FROM b;
SHOW VIEWS FROM c.`default`;
-- case: show databases of a catalog
CREATE CATALOG c WITH ('type' = 'generic_in_memory');
CREATE DATABASE c.e;
SHOW DATABASES FROM c;
-- case: show columns ilike
CREATE TABLE t (id BIGINT, name STRING) WITH ('connector' = 'kafka', 'topic' = 'x', 'properties.bootstrap.servers' = 's:1', 'format' = 'json');
SHOW COLUMNS IN t ILIKE 'N%';
-- case: show full modules
SHOW FULL MODULES;
-- case: show models
SHOW MODELS;
-- case: show models like
SHOW MODELS FROM default_database NOT LIKE 'x%';
-- case: show materialized tables
SHOW MATERIALIZED TABLES LIKE 'x%';
-- case: describe a catalog
CREATE CATALOG c COMMENT 'mine' WITH ('type' = 'generic_in_memory', 'default-database' = 'e');
DESCRIBE CATALOG c;
-- case: describe a catalog in full
CREATE CATALOG c COMMENT 'mine' WITH ('type' = 'generic_in_memory', 'default-database' = 'e');
DESC CATALOG EXTENDED c;
-- case: describe a catalog without a comment
CREATE CATALOG c WITH ('type' = 'generic_in_memory');
DESCRIBE CATALOG EXTENDED c;
-- case: describe an unknown catalog
DESCRIBE CATALOG c;
-- case: describe the first catalog
DESCRIBE CATALOG default_catalog;
-- case: show create catalog
CREATE CATALOG c COMMENT 'it''s mine' WITH ('type' = 'generic_in_memory', 'default-database' = 'e');
SHOW CREATE CATALOG c;
-- case: show create an unknown catalog
SHOW CREATE CATALOG c;
-- case: describe a built-in function
DESCRIBE FUNCTION SPLIT;
-- case: describe a built-in function in full
DESCRIBE FUNCTION EXTENDED UUID;
-- case: describe an unknown function
DESCRIBE FUNCTION EXTENDED unknown_one;
-- case: create or replace a new table
CREATE OR REPLACE TABLE t (a INT) WITH ('connector' = 'print');
SHOW CREATE TABLE t;
-- case: create or replace a table that exists
CREATE TABLE t (a INT) WITH ('connector' = 'print');
CREATE OR REPLACE TABLE t (b INT) WITH ('connector' = 'print');
SHOW COLUMNS FROM t;
-- case: create or replace a table like another
CREATE TABLE t (a INT) WITH ('connector' = 'print');
CREATE OR REPLACE TABLE s LIKE t;
SHOW COLUMNS FROM s;
