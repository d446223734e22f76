"""A checkpoint is refused if its queries, layouts or options do not fit those of the job."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.plan.operators import layouts

from streamtable.core.errors import Condition, StreamtableError
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.checkpoint.checkpoint import begin, open_checkpoint
from streamtable.runtime.checkpoint.stale_keys import stale_keys_hint
from streamtable.session import Session

TESTS = Path(__file__).parents[3]
TABLES = (TESTS / "golden" / "tables.sql").read_text()
INSERT = (
    "INSERT INTO per_region SELECT {} region, COUNT(*), MAX(score) FROM users AS u GROUP BY region"
)
#: Queries whose state has other content than the state of INSERT.
OTHERS = (
    INSERT.replace("MAX", "MIN"),
    INSERT.replace("MAX(score)", "MAX(score + 1)"),
    INSERT.replace("COUNT(*)", "COUNT(DISTINCT score)"),
    INSERT.replace("GROUP BY", "WHERE score > 1 GROUP BY"),
)


def _plans(hint: str = "", insert: str = INSERT, tables: str = TABLES) -> dict[str, Sink]:
    session = Session()
    session.load(f"{tables}\n{insert.format(hint)};", "job.sql")
    return {"per_region": session.plans[0]}


def _written(folder: Path, plans: dict[str, Sink]) -> Path:
    checkpoint = open_checkpoint(str(folder), plans)
    begin(checkpoint, {})
    checkpoint.close()
    return folder / "streamtable.json"


def _refusal(folder: Path, plans: dict[str, Sink]) -> str:
    with pytest.raises(StreamtableError) as refused:
        open_checkpoint(str(folder), plans)
    assert refused.value.condition is Condition.CHECKPOINT_MISMATCH
    text = str(refused.value)
    assert "it rebuilds its state from the topics" in text
    return text


def test_another_layout_of_a_state_is_refused_by_name(tmp_path: Path) -> None:
    manifest = _written(tmp_path, _plans())
    held = json.loads(manifest.read_text())
    assert held["queries"]["per_region"]["state"] == [
        ["GroupAggregate", 1],
        ["ChangelogNormalize", 1],
    ]
    held["queries"]["per_region"]["state"][0][1] = 0
    manifest.write_text(json.dumps(held))
    told = _refusal(tmp_path, _plans())
    assert "the state of GroupAggregate in per_region has layout 0, this version has 1" in told


@pytest.mark.parametrize(
    ("enforcer", "region", "version"),
    [
        ("not-null-enforcer' = 'DROP", "STRING NOT NULL", 2),
        ("type-length-enforcer' = 'TRIM_PAD", "VARCHAR(3)", 2),
        ("type-length-enforcer' = 'TRIM_PAD", "STRING", 1),
        ("not-null-enforcer' = 'ERROR", "STRING NOT NULL", 1),
        ("type-length-enforcer' = 'ERROR", "VARCHAR(3)", 1),
    ],
)
def test_sink_state_without_enforced_constraints_is_refused(
    tmp_path: Path, enforcer: str, region: str, version: int
) -> None:
    head, table, columns = TABLES.partition("CREATE TABLE per_region (")
    tables = head + table + columns.replace("STRING", region, 1)
    force = "SET 'table.exec.sink.upsert-materialize' = 'FORCE';"
    plans = _plans(tables=f"{force} SET 'table.exec.sink.{enforcer}'; {tables}")
    manifest = _written(tmp_path, plans)
    held = json.loads(manifest.read_text())
    assert held["queries"]["per_region"]["state"][0] == ["Materialize", version]
    held["queries"]["per_region"]["state"][0][1] = 1
    manifest.write_text(json.dumps(held))
    if version == 1:
        open_checkpoint(str(tmp_path), plans).close()
    else:
        told = _refusal(tmp_path, plans)
        assert "the state of Materialize in per_region has layout 1, this version has 2" in told


def test_an_older_layout_of_the_manifest_is_refused(tmp_path: Path) -> None:
    """The first layout of the manifest does not have the layouts of states."""
    manifest = _written(tmp_path, _plans())
    held = json.loads(manifest.read_text())
    del held["queries"]["per_region"]["state"]
    manifest.write_text(json.dumps({**held, "layout": 1}))
    assert "has layout 1, this version writes 3" in _refusal(tmp_path, _plans())


def test_the_state_ttl_can_change_and_cannot_be_removed(tmp_path: Path) -> None:
    _written(tmp_path, _plans("/*+ STATE_TTL('u' = '1 d') */"))
    open_checkpoint(str(tmp_path), _plans("/*+ STATE_TTL('u' = '2 d') */")).close()
    told = _refusal(tmp_path, _plans())
    assert "state expires" in told


def test_stale_keys_of_a_new_checkpoint_are_reported(tmp_path: Path) -> None:
    manifest = _written(tmp_path / "a", _plans())
    told = _refusal(tmp_path / "a", _plans(insert=OTHERS[0]))
    left = "keys that the job no longer writes are not deleted and stay in the topic 'per_region'"
    assert f"{left}: write to a new topic, or delete and create it before the start" in told
    manifest.write_text("{")
    with pytest.raises(StreamtableError, match=left):
        open_checkpoint(str(tmp_path / "a"), _plans())
    # A topic that keeps every record has no stale keys.
    appending = "INSERT INTO events SELECT user_id, {} user_region FROM pageviews"
    _written(tmp_path / "b", _plans(insert=appending))
    told = _refusal(tmp_path / "b", _plans(insert=appending + " WHERE user_id > 1"))
    assert "stay in" not in told


def test_the_hint_about_stale_keys_names_the_kind_of_target() -> None:
    """The hint uses the connector's word for each target."""
    database = (
        "CREATE TABLE counts (region STRING, n BIGINT, most BIGINT,"
        " PRIMARY KEY (region) NOT ENFORCED) WITH ('connector' = 'jdbc',"
        " 'url' = 'jdbc:postgresql://there/shop', 'table-name' = 'counts')"
    )
    topic = _plans()["per_region"]
    tables = f"{TABLES}\n{database};"
    table = _plans(tables=tables, insert=INSERT.replace("per_region", "counts"))["per_region"]
    assert "stay in the topic 'per_region': write to a new topic" in stale_keys_hint({"a": topic})
    alone = stale_keys_hint({"a": table})
    assert "stay in the table 'counts at jdbc:postgresql://there/shop'" in alone
    assert "write to a new table, or delete and create it" in alone
    both = stale_keys_hint({"a": topic, "b": table})
    assert "stay in the targets 'per_region', 'counts at" in both
    assert "write to new targets, or delete and create them" in both


@pytest.mark.parametrize("other", OTHERS)
def test_another_query_is_refused(other: str, tmp_path: Path) -> None:
    _written(tmp_path, _plans())
    assert "the query into per_region was" in _refusal(tmp_path, _plans(insert=other))


def test_another_topic_is_refused_and_other_brokers_are_accepted(tmp_path: Path) -> None:
    _written(tmp_path, _plans())
    servers = "'properties.bootstrap.servers' = '"
    moved = TABLES.replace(servers, f"{servers}elsewhere:9092,")
    assert moved != TABLES
    open_checkpoint(str(tmp_path), _plans(tables=moved)).close()
    renamed = TABLES.replace("'topic' = 'users'", "'topic' = 'people'")
    assert renamed != TABLES
    _refusal(tmp_path, _plans(tables=renamed))


def test_changed_metadata_keys_of_read_columns_are_refused(tmp_path: Path) -> None:
    """Otherwise one column of the query would have values of two kinds."""

    def plans(key: str, argument: str = "MAX(at)") -> dict[str, Sink]:
        table = f"""CREATE TABLE changes (id BIGINT,
          at TIMESTAMP_LTZ(3) METADATA FROM '{key}' VIRTUAL) WITH ('connector' = 'kafka',
          'topic' = 'changes', 'properties.bootstrap.servers' = 'kafka:9092',
          'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json')"""
        insert = (
            f"INSERT INTO per_region SELECT CAST(id AS STRING), {argument}, 0 FROM changes"
            " GROUP BY id"
        )
        return _plans(tables=f"{TABLES}\n{table};", insert=insert)

    latest = "MAX(EXTRACT(SECOND FROM at))"
    before = plans("value.source.timestamp", latest)
    manifest = _written(tmp_path / "read", before)
    text = _refusal(tmp_path / "read", plans("value.ingestion-timestamp", latest))
    assert "column changes.at of the query into per_region was metadata" in text
    assert "'value.source.timestamp' and is now 'value.ingestion-timestamp'" in text
    # A manifest of an earlier version does not have the metadata keys.
    held = json.loads(manifest.read_text())
    del held["queries"]["per_region"]["metadata"]
    manifest.write_text(json.dumps(held))
    open_checkpoint(str(tmp_path / "read"), plans("value.ingestion-timestamp", latest)).close()

    _written(tmp_path / "other", plans("value.source.timestamp", "COUNT(*)"))
    other = plans("value.ingestion-timestamp", "COUNT(*)")
    open_checkpoint(str(tmp_path / "other"), other).close()


#: Options of the source and of the sink at the first start and at the second; the refusal.
FORMAT_OPTIONS = {
    "bytes of a key": (
        ("", ""),
        ("", "'key.json.encode.decimal-as-plain-number' = 'true'"),
        "option 'key.json.encode.decimal-as-plain-number' of o was not set and is now 'true'",
    ),
    "bytes of a value": (
        ("", "'value.json.timestamp-format.standard' = 'ISO-8601'"),
        ("", "'value.json.timestamp-format.standard' = 'SQL'"),
        "option 'value.json.timestamp-format.standard' of o was 'ISO-8601' and is now not set",
    ),
    "an option of reading, of a sink": (
        ("", ""),
        ("", "'value.json.ignore-parse-errors' = 'true'"),
        None,
    ),
    "other values of the same bytes": (
        ("'csv.null-literal' = 'n'", ""),
        ("'csv.null-literal' = 'none'", ""),
        "option 'value.csv.null-literal' of i was 'n' and is now 'none', in the query into o",
    ),
    "the default": (("", ""), ("'csv.field-delimiter' = ','", ""), None),
    "which records are skipped": (("", ""), ("'csv.ignore-parse-errors' = 'true'", ""), None),
    "an option of writing, of a source": (
        ("", ""),
        ("'csv.write-bigdecimal-in-scientific-notation' = 'true'", ""),
        None,
    ),
}


def _formatted(source: str, sink: str) -> dict[str, Sink]:
    tables = """
    CREATE TABLE i (k DECIMAL(10, 2), t TIMESTAMP(3)) WITH ('connector' = 'kafka', 'topic' = 'i',
      'properties.bootstrap.servers' = 'kafka:9092', 'format' = 'csv' {});
    CREATE TABLE o (k DECIMAL(10, 2), t TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = 'o', 'properties.bootstrap.servers' = 'kafka:9092',
      'key.format' = 'json', 'value.format' = 'json' {});
    """
    options = (f", {option}" if option else "" for option in (source, sink))
    plans = _plans(tables=tables.format(*options), insert="INSERT INTO o SELECT k, t FROM i")
    return {"o": plans["per_region"]}


@pytest.mark.parametrize("case", FORMAT_OPTIONS)
def test_options_of_formats(case: str, tmp_path: Path) -> None:
    before, now, refusal = FORMAT_OPTIONS[case]
    manifest = _written(tmp_path, _formatted(*before))
    if refusal is None:
        open_checkpoint(str(tmp_path), _formatted(*now)).close()
        return
    assert refusal in _refusal(tmp_path, _formatted(*now))
    # A manifest of an earlier version does not have the options.
    held = json.loads(manifest.read_text())
    del held["queries"]["o"]["read_options"], held["queries"]["o"]["written_options"]
    manifest.write_text(json.dumps(held))
    _written(tmp_path, _formatted(*now))
    assert refusal.partition(" was ")[0] in _refusal(tmp_path, _formatted(*before))


#: Use of an instant -> the query, and whether its rows depend on the time zone.
ZONED = {
    "as text": ("SELECT CAST(lt AS STRING), 1 FROM i", True),
    "formatted": ("SELECT DATE_FORMAT(lt, 'HH'), 1 FROM i", True),
    "from a number": ("SELECT FROM_UNIXTIME(k), 1 FROM i", True),
    "compared with a local time": (
        "SELECT s, 1 FROM i WHERE lt > TIMESTAMP '2020-01-01 00:00:00'",
        True,
    ),
    "a window": (
        """SELECT s, COUNT(*) FROM TABLE(TUMBLE(TABLE i, DESCRIPTOR(lt), INTERVAL '1' DAY))
        GROUP BY s, window_start, window_end""",
        True,
    ),
    "passed through": ("SELECT s, k FROM (SELECT s, k, lt FROM i)", False),
    "counted": ("SELECT s, COUNT(lt) FROM i GROUP BY s", False),
    "no instant": ("SELECT CAST(ts AS STRING), 1 FROM i", False),
}


def _in_zone(query: str, zone: str) -> dict[str, Sink]:
    tables = f"""SET 'table.local-time-zone' = '{zone}';
    CREATE TABLE i (k BIGINT, s STRING, ts TIMESTAMP(3), ms BIGINT, lt AS TO_TIMESTAMP_LTZ(ms, 3),
      WATERMARK FOR lt AS lt) WITH ('connector' = 'kafka', 'topic' = 'i',
      'properties.bootstrap.servers' = 'kafka:9092', 'format' = 'json');
    CREATE TABLE o (s STRING, n BIGINT, PRIMARY KEY (s) NOT ENFORCED) WITH (
      'connector' = 'upsert-kafka', 'topic' = 'o', 'properties.bootstrap.servers' = 'kafka:9092',
      'key.format' = 'json', 'value.format' = 'json');
    """
    return {"o": _plans(tables=tables, insert=f"INSERT INTO o {query}")["per_region"]}


@pytest.mark.parametrize("case", ZONED)
def test_another_time_zone(case: str, tmp_path: Path) -> None:
    query, depends = ZONED[case]
    manifest = _written(tmp_path, _in_zone(query, "UTC"))
    open_checkpoint(str(tmp_path), _in_zone(query, "Etc/UTC")).close()
    now = _in_zone(query, "Europe/Berlin")
    if not depends:
        open_checkpoint(str(tmp_path), now).close()
        return
    refusal = _refusal(tmp_path, now)
    assert "'table.local-time-zone' was 'UTC' and is now 'Europe/Berlin', and the rows" in refusal
    # A manifest of an earlier version does not have the time zone.
    held = json.loads(manifest.read_text())
    del held["queries"]["o"]["zone"]
    manifest.write_text(json.dumps(held))
    open_checkpoint(str(tmp_path), now).close()


def test_the_time_zone_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query, _ = ZONED["as text"]
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    _written(tmp_path, _in_zone(query, "default"))
    monkeypatch.setenv("TZ", "Europe/Berlin")
    assert "was 'Asia/Tokyo' and is now 'Europe/Berlin'" in _refusal(
        tmp_path, _in_zone(query, "default")
    )
    open_checkpoint(str(tmp_path), _in_zone(query, "Asia/Tokyo")).close()


def test_words_of_a_plan_may_change(tmp_path: Path) -> None:
    """A later version may describe the same plan in other words."""
    manifest = _written(tmp_path, _plans())
    held = json.loads(manifest.read_text())
    held["queries"]["per_region"]["plan"] = ["Sink, as it was once called"]
    manifest.write_text(json.dumps(held))
    checkpoint = open_checkpoint(str(tmp_path), _plans())
    begin(checkpoint, {})
    checkpoint.close()
    now = json.loads(manifest.read_text())["queries"]["per_region"]["plan"]
    assert now[0].startswith("Sink per_region")


@pytest.mark.parametrize("uri", ["file:{}", "file://{}", "file://localhost{}", "FILE:{}", "{}"])
def test_a_file_uri_is_its_path(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoint = open_checkpoint(uri.format(tmp_path / "job"), _plans())
    checkpoint.close()
    assert checkpoint.directory == tmp_path / "job"
    assert [p.name for p in tmp_path.iterdir()] == ["job"]


@pytest.mark.parametrize(
    "place",
    [
        *("dbfs:/x", "hdfs:x", "s3:x", "s3://b/x", "file://elsewhere/x", "viewfs:/x", "DBFS:/x"),
    ],
)
def test_other_file_systems_are_refused_by_name(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StreamtableError) as refused:
        open_checkpoint(place, _plans())
    assert refused.value.condition is Condition.NOT_YET
    assert f"a checkpoint at {place}" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_the_scheme_of_s3_has_a_hint() -> None:
    with pytest.raises(StreamtableError, match=r"Hint: write s3a://b/x$"):
        open_checkpoint("s3://b/x", _plans())


def test_a_file_uri_without_a_root_is_refused() -> None:
    with pytest.raises(StreamtableError, match="INVALID_OPTION"):
        open_checkpoint("file:job", _plans())


def test_a_name_with_a_colon_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    checkpoint = open_checkpoint("./a:b", _plans())
    checkpoint.close()
    assert [p.name for p in tmp_path.iterdir()] == ["a:b"]


def test_the_docs_list_every_state_layout() -> None:
    """The table of states in the architecture page has every processor and variable."""
    text = (TESTS.parent / "docs" / "architecture" / "operators.md").read_text()
    table = text[text.index("\n## State\n") : text.index("\n## State TTL\n")]
    for layout in layouts():
        for name in (*layout.processors, *layout.variables):
            assert f"`{name}`" in table, name
