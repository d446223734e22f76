-- Every statement of Flink 2.2 with an example. `of` names the classes of Flink's parser.

-- case: CREATE TABLE
-- of: SqlCreateTable
CREATE TABLE t (a INT) WITH ('connector' = 'print');

-- case: CREATE TEMPORARY TABLE
CREATE TEMPORARY TABLE t (a INT) WITH ('connector' = 'print');

-- case: CREATE TABLE IF NOT EXISTS
CREATE TABLE IF NOT EXISTS users (a INT) WITH ('connector' = 'print');

-- case: CREATE TABLE ... LIKE
-- of: SqlCreateTableLike SqlTableLike
CREATE TABLE t WITH ('topic' = 'u') LIKE events (EXCLUDING CONSTRAINTS OVERWRITING OPTIONS);

-- case: CREATE TABLE ... AS
-- of: SqlCreateTableAs
CREATE TABLE t WITH ('connector' = 'print') AS SELECT id, note FROM events;

-- case: CREATE OR REPLACE TABLE
CREATE OR REPLACE TABLE t (a INT) WITH ('connector' = 'print');

-- case: CREATE OR REPLACE TABLE ... AS
-- of: SqlReplaceTableAs
CREATE OR REPLACE TABLE t WITH ('connector' = 'print') AS SELECT id, note FROM events;

-- case: REPLACE TABLE ... AS
CREATE TABLE t (a INT) WITH ('connector' = 'print');
REPLACE TABLE t WITH ('connector' = 'print') AS SELECT id, note FROM events;

-- case: CREATE CATALOG
-- of: SqlCreateCatalog
CREATE CATALOG c WITH ('type' = 'generic_in_memory');

-- case: CREATE DATABASE
-- of: SqlCreateDatabase
CREATE DATABASE IF NOT EXISTS d COMMENT 'mine';

-- case: CREATE DATABASE ... WITH
CREATE DATABASE d WITH ('owner' = 'me');

-- case: CREATE VIEW
-- of: SqlCreateView
CREATE VIEW v (a) COMMENT 'ids' AS SELECT id FROM users;

-- case: CREATE TEMPORARY VIEW
CREATE TEMPORARY VIEW IF NOT EXISTS v AS SELECT id FROM users;

-- case: CREATE FUNCTION ... LANGUAGE PYTHON
-- of: SqlCreateFunction
CREATE TEMPORARY SYSTEM FUNCTION f AS 'tests.compat.inventory.example:twice' LANGUAGE PYTHON;

-- case: CREATE FUNCTION ... LANGUAGE JAVA
CREATE FUNCTION f AS 'org.example.F' LANGUAGE JAVA;

-- case: CREATE FUNCTION ... LANGUAGE SCALA
CREATE FUNCTION f AS 'org.example.F' LANGUAGE SCALA;

-- case: CREATE FUNCTION ... USING JAR
CREATE FUNCTION f AS 'org.example.F' LANGUAGE JAVA USING JAR 'f.jar';

-- case: CREATE MATERIALIZED TABLE
-- of: SqlCreateMaterializedTable SqlRefreshMode
CREATE MATERIALIZED TABLE t FRESHNESS = INTERVAL '30' SECOND AS SELECT id FROM users;

-- case: CREATE MODEL
-- of: SqlCreateModel SqlCreateModelAs
CREATE MODEL m INPUT (a STRING) OUTPUT (b STRING) WITH ('provider' = 'openai');

-- case: CREATE TEMPORARY MODEL
CREATE TEMPORARY MODEL m INPUT (a STRING) OUTPUT (b STRING) WITH ('provider' = 'openai');

-- case: DROP TABLE
-- of: SqlDropTable
DROP TABLE IF EXISTS users;

-- case: DROP TEMPORARY TABLE
DROP TEMPORARY TABLE IF EXISTS t;

-- case: DROP CATALOG
-- of: SqlDropCatalog
DROP CATALOG IF EXISTS c;

-- case: DROP DATABASE
-- of: SqlDropDatabase
DROP DATABASE IF EXISTS d CASCADE;

-- case: DROP VIEW
-- of: SqlDropView
DROP VIEW IF EXISTS v;

-- case: DROP FUNCTION
-- of: SqlDropFunction
DROP TEMPORARY SYSTEM FUNCTION IF EXISTS f;

-- case: DROP MATERIALIZED TABLE
-- of: SqlDropMaterializedTable
DROP MATERIALIZED TABLE t;

-- case: DROP MODEL
-- of: SqlDropModel
DROP MODEL m;

-- case: ALTER TABLE ... RENAME TO
-- of: SqlAlterTable SqlAlterTableRename
ALTER TABLE users RENAME TO people;

-- case: ALTER TABLE ... SET
-- of: SqlAlterTableOptions
ALTER TABLE users SET ('topic' = 'people');

-- case: ALTER TABLE ... RESET
-- of: SqlAlterTableReset
ALTER TABLE users RESET ('value.fields-include');

-- case: ALTER TABLE ... ADD
-- of: SqlAlterTableAdd SqlAlterTableSchema SqlTableColumnPosition SqlColumnPosSpec
ALTER TABLE users ADD (born INT COMMENT 'year' AFTER id, more AS score + 1);

-- case: ALTER TABLE ... MODIFY
-- of: SqlAlterTableModify
ALTER TABLE pageviews MODIFY WATERMARK FOR viewtime AS viewtime;

-- case: ALTER TABLE ... RENAME column
-- of: SqlAlterTableRenameColumn
ALTER TABLE users RENAME score TO points;

-- case: ALTER TABLE ... DROP column
-- of: SqlAlterTableDropColumn
ALTER TABLE users DROP (score);

-- case: ALTER TABLE ... DROP PRIMARY KEY
-- of: SqlAlterTableDropPrimaryKey
CREATE TABLE t (a INT NOT NULL, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'print');
ALTER TABLE t DROP PRIMARY KEY;

-- case: ALTER TABLE ... DROP CONSTRAINT
-- of: SqlAlterTableDropConstraint SqlAlterTableAddConstraint
CREATE TABLE t (a INT NOT NULL, CONSTRAINT k PRIMARY KEY (a) NOT ENFORCED)
WITH ('connector' = 'print');
ALTER TABLE t DROP CONSTRAINT k;

-- case: ALTER TABLE ... DROP WATERMARK
-- of: SqlAlterTableDropWatermark
ALTER TABLE pageviews DROP WATERMARK;

-- case: ALTER TABLE ... ADD | MODIFY | DROP DISTRIBUTION
-- of: SqlAlterTableDropDistribution SqlDistribution
-- refused: no connector here has buckets; Flink's kafka, print and blackhole refuse the INSERT
ALTER TABLE users ADD DISTRIBUTION BY HASH(id) INTO 4 BUCKETS;

-- case: ALTER TABLE ... ADD | DROP PARTITION
-- of: SqlAddPartitions SqlDropPartitions
ALTER TABLE users ADD PARTITION (id = 1);

-- case: ALTER VIEW ... RENAME TO
-- of: SqlAlterView SqlAlterViewRename
CREATE VIEW v AS SELECT id FROM users;
ALTER VIEW v RENAME TO w;

-- case: ALTER VIEW ... AS
-- of: SqlAlterViewAs
CREATE VIEW v AS SELECT id FROM users;
ALTER VIEW v AS SELECT score FROM users;

-- case: ALTER VIEW ... SET
-- of: SqlAlterViewProperties
-- refused: Flink refuses it, too
CREATE VIEW v AS SELECT id FROM users;
ALTER VIEW v SET ('a' = 'b');

-- case: ALTER DATABASE
-- of: SqlAlterDatabase
ALTER DATABASE default_database SET ('a' = 'b');

-- case: ALTER CATALOG
-- of: SqlAlterCatalog SqlAlterCatalogOptions SqlAlterCatalogReset SqlAlterCatalogComment
ALTER CATALOG default_catalog SET ('a' = 'b');

-- case: ALTER FUNCTION
-- of: SqlAlterFunction
ALTER FUNCTION f AS 'org.example.F';

-- case: ALTER MODEL
-- unrecorded: there is no model
-- of: SqlAlterModel SqlAlterModelReset SqlAlterModelSet SqlAlterModelRename
ALTER MODEL m SET ('a' = 'b');

-- case: ALTER MATERIALIZED TABLE
-- of: SqlAlterMaterializedTable SqlAlterMaterializedTableReset SqlAlterMaterializedTableRefresh
-- of: SqlAlterMaterializedTableRefreshMode SqlAlterMaterializedTableOptions
-- of: SqlAlterMaterializedTableFreshness SqlAlterMaterializedTableResume
-- of: SqlAlterMaterializedTableAsQuery SqlAlterMaterializedTableDropDistribution
-- of: SqlAlterMaterializedTableAddDistribution SqlAlterMaterializedTableSuspend
-- of: SqlAlterMaterializedTableModifyDistribution
ALTER MATERIALIZED TABLE t SUSPEND;

-- case: INSERT INTO
-- of: RichSqlInsert
INSERT INTO users_copy (id) SELECT id FROM users;

-- case: INSERT OVERWRITE
INSERT OVERWRITE users_copy SELECT id, score FROM users;

-- case: INSERT INTO ... PARTITION
CREATE TABLE days (id BIGINT, dt STRING) PARTITIONED BY (dt) WITH ('connector' = 'blackhole');
INSERT INTO days PARTITION (dt = '2024-01-01') SELECT id FROM users;

-- case: INSERT INTO ... VALUES
INSERT INTO events VALUES (1, 'a'), (2, 'b');

-- case: EXECUTE STATEMENT SET
-- of: SqlStatementSet SqlExecute
EXECUTE STATEMENT SET BEGIN INSERT INTO events SELECT id, note FROM events; END;

-- case: BEGIN STATEMENT SET ... END
-- unrecorded: Flink's client reads it
-- of: SqlBeginStatementSet SqlEndStatementSet
BEGIN STATEMENT SET; INSERT INTO events SELECT id, note FROM events; END;

-- case: EXECUTE query
EXECUTE SELECT id FROM users;

-- case: UPDATE
UPDATE users SET score = 1 WHERE id = 2;

-- case: DELETE FROM
DELETE FROM users WHERE id = 2;

-- case: TRUNCATE TABLE
-- of: SqlTruncateTable
TRUNCATE TABLE users;

-- case: CALL
-- unrecorded: no catalog with procedures
CALL sys.compact('t');

-- case: ANALYZE TABLE
-- of: SqlAnalyzeTable
ANALYZE TABLE users COMPUTE STATISTICS;

-- case: COMPILE PLAN
-- of: SqlCompilePlan
COMPILE PLAN 'p.json' FOR INSERT INTO events SELECT id, note FROM events;

-- case: EXECUTE PLAN
-- of: SqlExecutePlan
EXECUTE PLAN 'p.json';

-- case: COMPILE AND EXECUTE PLAN
-- of: SqlCompileAndExecutePlan
COMPILE AND EXECUTE PLAN 'p.json' FOR INSERT INTO events SELECT id, note FROM events;

-- case: EXPLAIN
-- of: SqlRichExplain
EXPLAIN PLAN FOR SELECT id FROM users;

-- case: EXPLAIN CHANGELOG_MODE
EXPLAIN CHANGELOG_MODE SELECT id FROM users;

-- case: EXPLAIN PLAN_ADVICE
EXPLAIN PLAN_ADVICE SELECT id FROM users;

-- case: EXPLAIN ESTIMATED_COST
EXPLAIN ESTIMATED_COST SELECT id FROM users;

-- case: EXPLAIN JSON_EXECUTION_PLAN
EXPLAIN JSON_EXECUTION_PLAN SELECT id FROM users;

-- case: EXPLAIN STATEMENT SET
EXPLAIN STATEMENT SET BEGIN INSERT INTO events SELECT id, note FROM events; END;

-- case: EXPLAIN CREATE TABLE ... AS
EXPLAIN CREATE TABLE t WITH ('connector' = 'print') AS SELECT id, note FROM events;

-- case: DESCRIBE
-- of: SqlRichDescribeTable
DESCRIBE users;

-- case: DESCRIBE EXTENDED
DESCRIBE EXTENDED users;

-- case: DESCRIBE CATALOG
-- of: SqlDescribeCatalog
DESCRIBE CATALOG default_catalog;

-- case: DESCRIBE DATABASE
-- of: SqlDescribeDatabase
-- refused: Flink refuses it, too
DESCRIBE DATABASE default_database;

-- case: DESCRIBE FUNCTION
-- of: SqlRichDescribeFunction
DESCRIBE FUNCTION EXTENDED SPLIT;

-- case: DESCRIBE MODEL
-- of: SqlRichDescribeModel
DESCRIBE MODEL m;

-- case: DESCRIBE JOB
-- of: SqlDescribeJob
DESCRIBE JOB '228d70913eab60dda85c5e7f78b5782c';

-- case: SHOW CATALOGS
-- of: SqlShowCatalogs
SHOW CATALOGS;

-- case: SHOW CATALOGS LIKE
SHOW CATALOGS LIKE 'd%';

-- case: SHOW CURRENT CATALOG
-- of: SqlShowCurrentCatalog
SHOW CURRENT CATALOG;

-- case: SHOW DATABASES
-- of: SqlShowDatabases
SHOW DATABASES FROM default_catalog LIKE 'd%';

-- case: SHOW CURRENT DATABASE
-- of: SqlShowCurrentDatabase
SHOW CURRENT DATABASE;

-- case: SHOW TABLES
-- of: SqlShowTables SqlShowCall
SHOW TABLES FROM default_database NOT LIKE 'd%';

-- case: SHOW VIEWS
SHOW VIEWS;

-- case: SHOW VIEWS FROM ... LIKE
SHOW VIEWS FROM default_database LIKE 'd%';

-- case: SHOW MATERIALIZED TABLES
SHOW MATERIALIZED TABLES;

-- case: SHOW COLUMNS
-- of: SqlShowColumns
SHOW COLUMNS FROM users LIKE '%o%';

-- case: SHOW FUNCTIONS
-- of: SqlShowFunctions
SHOW USER FUNCTIONS FROM default_database ILIKE 'f%';

-- case: SHOW PARTITIONS
-- of: SqlShowPartitions
SHOW PARTITIONS users;

-- case: SHOW PROCEDURES
-- of: SqlShowProcedures
SHOW PROCEDURES;

-- case: SHOW MODULES
-- of: SqlShowModules
SHOW FULL MODULES;

-- case: SHOW MODELS
-- of: SqlShowModels
SHOW MODELS;

-- case: SHOW JARS
-- of: SqlShowJars
SHOW JARS;

-- case: SHOW JOBS
-- of: SqlShowJobs
SHOW JOBS;

-- case: SHOW CREATE TABLE
-- of: SqlShowCreate SqlShowCreateTable
SHOW CREATE TABLE users;

-- case: SHOW CREATE VIEW
-- of: SqlShowCreateView
CREATE VIEW v AS SELECT id FROM users;
SHOW CREATE VIEW v;

-- case: SHOW CREATE CATALOG
-- of: SqlShowCreateCatalog
SHOW CREATE CATALOG default_catalog;

-- case: SHOW CREATE MATERIALIZED TABLE
-- of: SqlShowCreateMaterializedTable
SHOW CREATE MATERIALIZED TABLE t;

-- case: SHOW CREATE MODEL
-- unrecorded: there is no model
-- of: SqlShowCreateModel
SHOW CREATE MODEL m;

-- case: USE CATALOG
-- of: SqlUseCatalog
USE CATALOG default_catalog;

-- case: USE
-- of: SqlUseDatabase
USE default_catalog.default_database;

-- case: USE MODULES
-- of: SqlUseModules
USE MODULES core;

-- case: LOAD MODULE
-- of: SqlLoadModule
LOAD MODULE hive;

-- case: UNLOAD MODULE
-- of: SqlUnloadModule
UNLOAD MODULE hive;

-- case: SET
-- unrecorded: Flink's client reads it
-- of: SqlSet
SET 'table.local-time-zone' = 'UTC';
SET;

-- case: RESET
-- unrecorded: Flink's client reads it
-- of: SqlReset
RESET 'table.local-time-zone';
RESET;

-- case: ADD JAR
-- of: SqlAddJar SqlResource SqlResourceType
ADD JAR 'f.jar';

-- case: REMOVE JAR
-- of: SqlRemoveJar
REMOVE JAR 'f.jar';

-- case: STOP JOB
-- of: SqlStopJob
STOP JOB '228d70913eab60dda85c5e7f78b5782c' WITH SAVEPOINT;

-- case: QUIT, EXIT, CLEAR, HELP
-- unrecorded: Flink's client reads it
-- refused: they drive Flink's interactive client; a script ends where its text does
QUIT;
