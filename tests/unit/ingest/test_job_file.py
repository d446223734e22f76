"""Job files: their contents, and each fault with its line and its fix."""

import re

import pytest

from streamtable.connectors.kafka.options.options import ADD_TABLE_ID, DELIVERY, DeliveryGuarantee
from streamtable.connectors.mysql_cdc import server_options as server
from streamtable.connectors.mysql_cdc.names import StartupMode
from streamtable.connectors.mysql_cdc.reader import TableId
from streamtable.core.errors import Condition, Faults, StreamtableError
from streamtable.core.secrets import without_secrets
from streamtable.ingest import is_job_file
from streamtable.ingest.file import options as o
from streamtable.ingest.file.job_file import JobFile, load_job, read_job
from streamtable.ingest.file.routes import topics_of
from streamtable.ingest.file.transforms import transform_of

#: The example of Alibaba's *Upsert Kafka* page, section *Data ingestion*, unchanged.
EXAMPLE = """\
source:
  type: mysql
  name: MySQL Source
  hostname: ${mysql.hostname}
  port: ${mysql.port}
  username: ${mysql.username}
  password: ${mysql.password}
  tables: ${mysql.source.table}
  server-id: 8601-8604

sink:
  type: upsert-kafka
  name: Upsert Kafka Sink
  properties.bootstrap.servers: ${upsert.kafka.bootstraps.server}
  aliyun.kafka.accessKeyId: ${upsert.kafka.aliyun.ak}
  aliyun.kafka.accessKeySecret: ${upsert.kafka.aliyun.sk}
  aliyun.kafka.instanceId: ${upsert.kafka.aliyun.instanceid}
  aliyun.kafka.endpoint: ${upsert.kafka.aliyun.endpoint}
  aliyun.kafka.regionId: ${upsert.kafka.aliyun.regionid}

route:
  - source-table: ${mysql.source.table}
    sink-table: ${upsert.kafka.topic}
"""

VARIABLES = {
    "mysql.hostname": "db.example.org",
    "mysql.port": "3307",
    "mysql.username": "copier",
    "mysql.password": "x: 'y' #z",
    "mysql.source.table": "shop.orders",
    "upsert.kafka.bootstraps.server": "broker:9092",
    "upsert.kafka.aliyun.ak": "the-key",
    "upsert.kafka.aliyun.sk": "the-secret",
    "upsert.kafka.aliyun.instanceid": "alikafka-1",
    "upsert.kafka.aliyun.endpoint": "alikafka.cn-hangzhou.aliyuncs.com",
    "upsert.kafka.aliyun.regionid": "cn-hangzhou",
    "upsert.kafka.topic": "orders",
}

SOURCE = """\
source:
  type: mysql
  hostname: db
  username: copier
  password: secret-word
  tables: shop.orders
"""
SINK = """\
sink:
  type: upsert-kafka
  properties.bootstrap.servers: broker:9092
"""
PLAIN = SOURCE + SINK


def read(text: str, variables: dict[str, str] | None = None) -> JobFile:
    return read_job(text, "job.yaml", variables or {})


def faults_of(text: str) -> list[StreamtableError]:
    with pytest.raises((StreamtableError, Faults)) as caught:
        read(text)
    error = caught.value
    return list(error.faults) if isinstance(error, Faults) else [error]


def test_the_documentation_example_is_read_unchanged():
    job = read(EXAMPLE, VARIABLES)
    assert job.source[server.HOSTNAME] == "db.example.org"
    assert job.source[server.PORT] == 3307
    assert job.source[server.PASSWORD] == "x: 'y' #z"
    assert job.source[server.SERVER_ID] == (8601, 8604)
    assert job.sink[DELIVERY] is DeliveryGuarantee.AT_LEAST_ONCE
    assert not job.sink[ADD_TABLE_ID]
    table = TableId("shop", "orders")
    assert job.copies(table)
    assert topics_of(table, job.routes) == ("orders",)


def test_defaults_equal_the_documentation():
    job = read(PLAIN)
    assert job.source[server.PORT] == 3306
    assert job.source[server.STARTUP_MODE] is StartupMode.INITIAL
    assert job.source[server.CHUNK_SIZE] == 8096
    assert job.pipeline[o.SCHEMA_BEHAVIOR] is o.SchemaBehavior.LENIENT
    assert topics_of(TableId("shop", "orders"), job.routes) == ("shop.orders",)


def test_scalars_are_read_as_text():
    text = PLAIN.replace("secret-word", "0077").replace("hostname: db", "hostname: yes")
    job = read(text)
    assert (job.source[server.PASSWORD], job.source[server.HOSTNAME]) == ("0077", "yes")


def test_secrets_are_masked():
    read(PLAIN.replace("secret-word", "hush-hush-1"))
    assert without_secrets("no login with hush-hush-1") == "no login with ****"


def test_variables_come_from_the_environment_and_secrets_from_files(tmp_path, monkeypatch):
    (tmp_path / "mysql-password").write_text("from-a-file\n")
    monkeypatch.setenv("STREAMTABLE_SECRETS", str(tmp_path))
    monkeypatch.setenv("DB_HOST", "from-the-environment")
    text = PLAIN.replace("secret-word", "${secret_values.mysql-password}")
    job = read(text.replace("hostname: db", "hostname: ${DB_HOST}"))
    assert job.source[server.PASSWORD] == "from-a-file"
    assert job.source[server.HOSTNAME] == "from-the-environment"
    assert without_secrets("from-a-file") == "****"


def test_all_errors_of_a_file_are_reported_in_order():
    text = PLAIN.replace("hostname: db", "hostnam: db").replace("type: upsert-kafka", "type: kafka")
    assert [(fault.condition, fault.at.line, fault.hint) for fault in faults_of(text)] == [
        (Condition.JOB_KEY_MISSING, 1, "add 'hostname: ...'"),
        (Condition.JOB_KEY_UNKNOWN, 3, "did you mean 'hostname'?"),
        (Condition.INVALID_OPTION, 8, None),
    ]


@pytest.mark.parametrize(
    ("text", "condition", "line", "part"),
    [
        ("", Condition.JOB_FILE_INVALID, 1, "empty"),
        ("- a\n", Condition.JOB_FILE_INVALID, 1, "mapping with 'source' and 'sink'"),
        ("source: [a\n", Condition.JOB_FILE_INVALID, 2, "expected ',' or ']'"),
        ("source: {a: 1}\n\tsink: 2", Condition.JOB_FILE_INVALID, 2, "YAML"),
        ("a: !!python/object:os.system x", Condition.JOB_FILE_INVALID, 1, "is not allowed"),
        ("a: &x [*x]", Condition.JOB_FILE_INVALID, 1, "inside its own anchor"),
        (PLAIN + "sink:\n  type: x\n", Condition.DUPLICATE_OPTION, 10, "line 7"),
        (PLAIN + "  type: x\n", Condition.DUPLICATE_OPTION, 10, "line 8"),
        (PLAIN + "pipelin:\n", Condition.JOB_KEY_UNKNOWN, 10, "did you mean 'pipeline'?"),
        (PLAIN + "pipeline: x\n", Condition.JOB_FILE_INVALID, 10, "takes a mapping"),
        (PLAIN + "pipeline:\n  name:\n", Condition.JOB_FILE_INVALID, 11, "takes a value"),
        (PLAIN + "pipeline:\n  name: [a]\n", Condition.JOB_FILE_INVALID, 11, "found a list"),
        (
            PLAIN + "pipeline:\n  parallelism: many\n",
            Condition.INVALID_OPTION,
            11,
            "a whole number",
        ),
        (
            PLAIN + "pipeline:\n  schema.change.behavior: evolved\n",
            Condition.INVALID_OPTION,
            11,
            "one of exception, evolve, try_evolve, lenient, ignore",
        ),
        (SINK, Condition.JOB_KEY_MISSING, 1, "'source'"),
        (SOURCE, Condition.JOB_KEY_MISSING, 1, "'sink'"),
        (
            PLAIN.replace("  properties.bootstrap.servers: broker:9092\n", ""),
            Condition.JOB_KEY_MISSING,
            7,
            "'properties.bootstrap.servers'",
        ),
        (
            PLAIN + "  properties:\n    acks: all\n",
            Condition.JOB_KEY_UNKNOWN,
            10,
            "write 'properties.acks: ...' in one line",
        ),
        (
            PLAIN + "  sink.delivery-guarantee: exactly\n",
            Condition.INVALID_OPTION,
            10,
            "none, at-least-once, exactly-once",
        ),
        (
            PLAIN + "  sink.transactional-id-prefix: a\n",
            Condition.OPTION_CONFLICT,
            10,
            "exactly-once",
        ),
        (
            PLAIN + "  aliyun.kafka.instanceId: a\n",
            Condition.OPTION_CONFLICT,
            10,
            "aliyun.kafka.accessKeyId",
        ),
        (PLAIN + "  value.format: avro\n", Condition.NOT_YET, 10, "the value is JSON"),
        (
            SOURCE + "  jdbc.properties.useSsl: 'false'\n" + SINK,
            Condition.OPTION_NOT_SETTABLE,
            7,
            "no JDBC driver",
        ),
        (
            SOURCE + "  jdbc.properties.useSSL: perhaps\n" + SINK,
            Condition.OPTION_NOT_SETTABLE,
            7,
            "true or false",
        ),
        (
            SOURCE + "  server-id: 9-3\n" + SINK,
            Condition.INVALID_OPTION,
            7,
            "5400-5408",
        ),
        (
            SOURCE + "  scan.incremental.snapshot.chunk.key-column: shop.a\n" + SINK,
            Condition.INVALID_OPTION,
            7,
            "database.table:column",
        ),
        (
            SOURCE + "  debezium.column.include.list: '('\n" + SINK,
            Condition.INVALID_OPTION,
            7,
            "regular expressions",
        ),
        (
            SOURCE + "  server-time-zone: Mars\n" + SINK,
            Condition.INVALID_OPTION,
            7,
            "Europe/Berlin",
        ),
        (
            SOURCE + "  scan.startup.mode: timestamp\n" + SINK,
            Condition.JOB_KEY_MISSING,
            7,
            "scan.startup.timestamp-millis",
        ),
        (
            SOURCE + "  scan.startup.mode: specific-offset\n" + SINK,
            Condition.JOB_KEY_MISSING,
            7,
            "scan.startup.specific-offset.file",
        ),
        (
            SOURCE + "  scan.startup.timestamp-millis: 5\n" + SINK,
            Condition.OPTION_CONFLICT,
            7,
            "scan.startup.mode: timestamp",
        ),
        (
            PLAIN.replace("shop.orders", "orders"),
            Condition.INVALID_OPTION,
            6,
            "'orders' has no dot between names",
        ),
        (PLAIN.replace("shop.orders", "shop.a,,"), Condition.INVALID_OPTION, 6, "an empty entry"),
        (PLAIN.replace("shop.orders", "'shop.('"), Condition.INVALID_OPTION, 6, "unterminated"),
        (PLAIN + "route: shop\n", Condition.JOB_FILE_INVALID, 10, "a list"),
        (
            PLAIN + "route:\n  - source-table: shop.a\n",
            Condition.JOB_KEY_MISSING,
            11,
            "an entry of route lacks the key 'sink-table'",
        ),
        (
            PLAIN + "route:\n  - source-table: shop.a\n    sink-table: a b\n",
            Condition.INVALID_OPTION,
            12,
            "a topic's name",
        ),
        (
            PLAIN
            + "route:\n  - source-table: shop.a\n    sink-table: ab\n    replace-symbol: <>\n",
            Condition.INVALID_OPTION,
            13,
            "a part of the sink-table 'ab'",
        ),
        (
            PLAIN + "transform:\n  - source-table: shop.a\n    projection: id,\n",
            Condition.SYNTAX,
            12,
            "expected",
        ),
        (
            PLAIN + "transform:\n  - source-table: shop.a\n    projection: SUM(a) AS a\n",
            Condition.NOT_YET,
            12,
            "an aggregate in a transform",
        ),
        (
            PLAIN + "transform:\n  - source-table: shop.a\n    filter: a > (SELECT 1)\n",
            Condition.NOT_YET,
            12,
            "a subquery in a transform",
        ),
        (
            PLAIN + "transform:\n  - source-table: shop.a\n    primary-keys: a, a\n",
            Condition.INVALID_OPTION,
            12,
            "different columns",
        ),
        (
            PLAIN.replace("secret-word", "${no.such.name}"),
            Condition.UNKNOWN_VARIABLE,
            5,
            "--var",
        ),
    ],
)
def test_an_error_is_a_single_line_with_the_position(text, condition, line, part):
    (fault,) = faults_of(text)
    assert fault.condition is condition
    assert fault.at is not None
    assert fault.at.line == line
    assert part in str(fault)
    assert "\n" not in str(fault)


def test_yaml_alias_expansion_is_limited():
    laughs = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{new}: &{new} [{', '.join(['*' + old] * 9)}]\n"
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    )
    (fault,) = faults_of(laughs)
    assert "more than 20000 values" in str(fault)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(StreamtableError, match="FILE_UNREADABLE"):
        load_job(tmp_path / "none.yaml", {})
    (tmp_path / "latin.yaml").write_bytes(b"a: \xff")
    with pytest.raises(StreamtableError, match="not UTF-8 at byte 3"):
        load_job(tmp_path / "latin.yaml", {})


@pytest.mark.parametrize(
    ("name", "expected"), [("a.yaml", True), ("a.YML", True), ("a.sql", False)]
)
def test_job_files_are_known_by_their_suffix(tmp_path, name, expected):
    assert is_job_file(tmp_path / name) is expected


@pytest.mark.parametrize(
    ("tables", "table", "expected"),
    [
        ("shop.orders", "shop.orders", True),
        ("shop.orders", "shop.orders2", False),
        ("shop.orders", "shop_orders.x", False),
        ("shop.order_[0-9]+", "shop.order_17", True),
        ("shop.order_[0-9]+", "shop.order_x", False),
        ("shop.\\.*", "shop.anything", True),
        ("shop.\\.*", "other.anything", False),
        ("db[1-2].[app|web]\\.*order", "db1.a_order", True),
        ("a.b, c.d", "c.d", True),
        ("a.b{1,2}, c.d", "a.bb", True),
    ],
)
def test_patterns_match_as_in_flink_cdc(tables, table, expected):
    job = read(PLAIN.replace("shop.orders", f"'{tables}'"))
    assert job.copies(TableId(*table.split(".", 1))) is expected


def test_table_lists_and_excluded_tables():
    text = PLAIN.replace("tables: shop.orders", "tables: [shop.a, 'shop.b\\.*']")
    text = text.replace("sink:", "  tables.exclude: shop.b2\nsink:")
    job = read(text)
    copied = [name for name in ("a", "b1", "b2", "c") if job.copies(TableId("shop", name))]
    assert copied == ["a", "b1"]


def test_a_table_goes_to_every_route_that_matches():
    job = read(
        PLAIN
        + "route:\n"
        + "  - {source-table: 'shop.\\.*', sink-table: ods_<>_v1, replace-symbol: <>}\n"
        + "  - {source-table: shop.a, sink-table: all, description: both}\n"
        + "  - {source-table: shop.b, sink-table: all}\n"
    )
    assert topics_of(TableId("shop", "a"), job.routes) == ("ods_a_v1", "all")
    assert topics_of(TableId("shop", "c"), job.routes) == ("ods_c_v1",)
    assert topics_of(TableId("other", "c"), job.routes) == ("other.c",)
    with pytest.raises(StreamtableError, match=re.escape("source-table: shop.ä b")):
        topics_of(TableId("shop", "ä b"), job.routes[1:])


def test_chunk_keys_name_columns_of_tables():
    key = "  scan.incremental.snapshot.chunk.key-column: shop.a:id;web.o_\\.*:n;\n"
    pairs = read(SOURCE + key + SINK).chunk_keys
    assert [column for _, column in pairs] == ["id", "n"]
    assert re.fullmatch(pairs[1][0], "web.o_17", re.IGNORECASE)


def test_the_first_matching_transform_applies():
    job = read(
        PLAIN
        + "transform:\n"
        + "  - {source-table: shop.a, primary-keys: 'x, y'}\n"
        + "  - source-table: shop.\\.*\n"
        + "    projection: \\*, UPPER(name) AS loud\n"
        + "    filter: id > 3 AND name IS NOT NULL\n"
    )
    first = transform_of(TableId("shop", "a"), job.transforms)
    second = transform_of(TableId("shop", "b"), job.transforms)
    assert first is not None
    assert (first.primary_keys, first.query) == (("x", "y"), None)
    assert second is not None
    assert second.query is not None
    assert transform_of(TableId("other", "b"), job.transforms) is None
