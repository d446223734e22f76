"""Tables and catalogs that take their columns from a real schema registry, without Spark."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from tests.integration.schemas.support import answer, columns, register

from streamtable.cli.main import cli
from streamtable.core.errors import StreamtableError
from streamtable.session import Session

if TYPE_CHECKING:
    from pathlib import Path

    from streamtable.devbroker.registry import Registry


def record(name: str, /, **fields: object) -> dict[str, object]:
    named = [{"name": key, "type": kind} for key, kind in fields.items()]
    return {"type": "record", "name": name, "fields": named}


VALUE = record("Order", id="long", name=["null", "string"], at=["null", "long"])


@pytest.fixture
def topic(registry: Registry) -> str:
    """Register a value schema and return the name of its topic, which exists on no broker."""
    name = f"orders_{uuid.uuid4().hex[:8]}"
    register(registry.url, f"{name}-value", VALUE)
    return name


def table(
    registry: Registry, topic: str, elements: str = "", connector: str = "kafka", **more: str
) -> str:
    formats = {"format": "avro-confluent", "avro-confluent.url": registry.url}
    if connector == "upsert-kafka":
        formats = {
            f"{side}.{key}": value for key, value in formats.items() for side in ("key", "value")
        }
    options = {
        "connector": connector,
        "topic": topic,
        "properties.bootstrap.servers": "nowhere:1",
        **formats,
        **{key.replace("__", "-").replace("_", "."): value for key, value in more.items()},
    }
    clause = ", ".join(f"'{key}' = '{value}'" for key, value in options.items() if value)
    return f"CREATE TABLE t {elements} WITH ({clause});"


def failure(session: Session, script: str) -> str:
    with pytest.raises(StreamtableError) as caught:
        session.load(script, "job.sql")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_table_without_columns(registry: Registry, topic: str) -> None:
    session = Session()
    session.load(table(registry, topic), "job.sql")
    assert columns(session, "t") == ["id BIGINT!", "name STRING", "at BIGINT"]


def test_declared_elements_follow_the_inferred_columns(registry: Registry, topic: str) -> None:
    session = Session()
    elements = """(
      part INT METADATA FROM 'partition' VIRTUAL, ts AS TO_TIMESTAMP_LTZ(`at`, 3),
      WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)"""
    session.load(table(registry, topic, elements), "job.sql")
    found = columns(session, "t")
    assert found[:4] == ["id BIGINT!", "name STRING", "at BIGINT", "part INT"]
    assert found[4].startswith("ts TIMESTAMP_LTZ(3)")


def test_a_declared_column_disables_inference(registry: Registry, topic: str) -> None:
    session = Session()
    session.load(table(registry, topic, "(name STRING)"), "job.sql")
    assert columns(session, "t") == ["name STRING"]


def test_show_create_needs_no_registry(registry: Registry, topic: str) -> None:
    session, again = Session(), Session()
    session.load(table(registry, topic), "job.sql")
    (shown,) = answer(session, "SHOW CREATE TABLE t")
    again.catalog.external.offline = True
    again.load(shown[0].replace("`t`", "`u`"), "job.sql")
    assert columns(again, "u") == columns(session, "t")


def test_the_key_of_an_upsert_table(registry: Registry, topic: str) -> None:
    register(registry.url, f"{topic}-key", record("Key", id="long"))
    session = Session()
    session.load(table(registry, topic, connector="upsert-kafka"), "job.sql")
    assert columns(session, "t") == ["id BIGINT!*", "name STRING", "at BIGINT"]
    wrong = table(registry, topic, "(PRIMARY KEY (name) NOT ENFORCED)", connector="upsert-kafka")
    assert "the key's schema has the columns (id)" in failure(Session(), wrong)


def test_a_prefix_and_a_value_without_the_key(registry: Registry, topic: str) -> None:
    register(registry.url, f"{topic}-key", record("Key", id="string", n="int"))
    session = Session()
    clause = {"connector": "upsert-kafka", "key_fields__prefix": "k_"}
    clause["value_fields__include"] = "EXCEPT_KEY"
    session.load(table(registry, topic, **clause), "job.sql")
    found = columns(session, "t")
    assert found == ["k_id STRING!*", "k_n INT!*", "id BIGINT!", "name STRING", "at BIGINT"]
    all_ = table(registry, topic, connector="upsert-kafka")
    assert "'id' of t is STRING NOT NULL in the key and BIGINT NOT NULL" in failure(Session(), all_)
    clause["key_fields__prefix"] = ""
    both = failure(Session(), table(registry, topic, **clause))
    assert "'id' of t is a field of the key and of the value" in both


def test_a_kafka_table_reads_the_whole_key(registry: Registry, topic: str) -> None:
    register(registry.url, f"{topic}-key", record("Key", user="string"))
    key = {"key_format": "avro-confluent", "key_avro__confluent_url": registry.url}
    session = Session()
    except_key = table(registry, topic, value_fields__include="EXCEPT_KEY", **key)
    session.load(except_key, "job.sql")
    assert columns(session, "t")[0] == "user STRING!"
    lacking = failure(Session(), table(registry, topic, **key))
    assert "the key of t has the field 'user', which the value lacks" in lacking
    fields = table(registry, topic, key_fields="id", value_fields__include="EXCEPT_KEY", **key)
    assert "write 'user', or remove it" in failure(Session(), fields)


def test_refusals(registry: Registry, topic: str) -> None:
    missing = failure(Session(), table(registry, "nothing_here"))
    assert "job.sql:1:1: SUBJECT_MISSING" in missing
    assert "has no subject 'nothing_here-value'. Hint: name the subject" in missing
    several = failure(Session(), table(registry, f"{topic};b"))
    assert "several topics have no single subject. Hint: set 'avro-confluent.subject'" in several
    json_ = table(registry, topic, avro__confluent_url="", format="json")
    assert "only a format with a schema registry tells them" in failure(Session(), json_)
    register(registry.url, f"{topic}_u-value", record("U", a=["int", "string"]))
    union = failure(Session(), table(registry, f"{topic}_u"))
    assert f"subject '{topic}_u-value' of the schema registry has no columns: field 'a'" in union
    assert "Hint: declare the columns" in union
    down = table(registry, topic).replace(registry.url, "http://127.0.0.1:1")
    unreachable = failure(Session(), down)
    assert "SCHEMA_REGISTRY_UNREACHABLE" in unreachable
    assert "check the option 'avro-confluent.url' and the credentials" in unreachable
    given = failure(Session(), table(registry, topic, avro__confluent_schema='"string"'))
    assert "INVALID_OPTION: option 'avro-confluent.schema' has the value" in given
    assert "not a schema with columns: it is not a record" in given
    other = table(registry, topic).replace("avro-confluent", "json-confluent")
    assert "of the type AVRO, which format 'json-confluent' does not read" in failure(
        Session(), other
    )


def test_validate_does_not_contact_the_registry(
    registry: Registry, topic: str, tmp_path: Path
) -> None:
    script = tmp_path / "job.sql"
    script.write_text(table(registry, topic))
    found = CliRunner().invoke(cli, ["validate", str(script)])
    assert found.exit_code == 1
    needed = f"SERVER_NEEDED: table t takes its columns from subject '{topic}-value'"
    assert needed in " ".join(found.output.split())


def catalog(url: str, **more: str) -> str:
    options = {
        "type": "schema-registry",
        "schema-registry.url": url,
        "properties.bootstrap.servers": "nowhere:1",
        **more,
    }
    clause = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return f"CREATE CATALOG c WITH ({clause});"


def test_tables_of_a_registry_catalog(registry: Registry, topic: str) -> None:
    register(registry.url, f"{topic}_k-value", VALUE)
    register(registry.url, f"{topic}_k-key", record("Key", id="long"))
    register(registry.url, f"{topic}_s-value", VALUE)
    register(registry.url, f"{topic}_s-key", "string")
    proto = 'syntax = "proto3"; message P { string a = 1; }'
    register(registry.url, f"{topic}_p-value", proto, "PROTOBUF")
    session = Session()
    session.load(catalog(registry.url, **{"upsert-topics": "*"}), "job.sql")
    assert f"SUBJECT_MISSING: the schema registry at {registry.url} has no subject" in failure(
        session, f"DESCRIBE c.kafka.{topic}"
    )
    single = failure(session, f"DESCRIBE c.kafka.{topic}_s")
    assert f"'{topic}_s-key' of the schema registry has no columns: its schema is of a" in single
    # A catalog that is created again has no tables of the first catalog.
    again = "DROP CATALOG c;" + catalog(registry.url, **{"upsert-topics": f"{topic}_k"})
    session.load(f"DESCRIBE c.kafka.{topic}_k;{again}DESCRIBE c.kafka.{topic}_k", "job.sql")
    assert ("c",) in answer(session, "SHOW CATALOGS")
    assert answer(session, "SHOW DATABASES FROM c") == [("kafka",)]
    session.load("USE CATALOG c", "job.sql")
    names = [topic, *(f"{topic}_{kind}" for kind in "kps")]
    assert answer(session, f"SHOW TABLES LIKE '{topic}%'") == [(name,) for name in names]
    assert columns(session, topic) == ["id BIGINT!", "name STRING", "at BIGINT"]
    assert columns(session, f"{topic}_k") == ["id BIGINT!*", "name STRING", "at BIGINT"]
    assert columns(session, f"{topic}_s") == ["id BIGINT!", "name STRING", "at BIGINT"]
    assert columns(session, f"{topic}_p") == ["a STRING!"]
    session.load(f"INSERT INTO {topic}_k SELECT id, name, `at` FROM c.kafka.{topic}", "job.sql")
    plan = session.explain()
    assert f"Sink c.kafka.{topic}_k: upsert-kafka" in plan
    assert f"Scan c.kafka.{topic}: kafka" in plan
    like = f"CREATE TABLE default_catalog.default_database.d (x AS id) LIKE {topic}"
    session.load(like, "job.sql")
    assert columns(session, "default_catalog.default_database.d")[-1] == "x BIGINT!"


def test_a_registry_catalog_is_read_only(registry: Registry, topic: str) -> None:
    session = Session()
    session.load(catalog(registry.url), "job.sql")
    for statement in (
        f"DROP TABLE c.kafka.{topic}",
        f"ALTER TABLE c.kafka.{topic} DROP WATERMARK",
        "CREATE VIEW c.kafka.v AS SELECT 1",
        "CREATE TABLE c.kafka.u (a INT) WITH ('connector' = 'print')",
        "CREATE DATABASE c.d",
        "DROP DATABASE c.kafka",
    ):
        assert "the content of catalog c is that of an external system" in failure(
            session, statement
        )
    session.load("CREATE TEMPORARY VIEW c.kafka.v AS SELECT 1 AS one", "job.sql")
    assert columns(session, "c.kafka.v") == ["one INT!"]
    missing = failure(session, f"DESCRIBE c.kafka.{topic}x")
    assert f"UNKNOWN_TABLE: table c.kafka.{topic}x does not exist. Hint: did you mean" in missing
    session.load("DROP CATALOG c", "job.sql")
    assert "UNKNOWN_CATALOG" in failure(session, f"DESCRIBE c.kafka.{topic}")


def test_a_catalog_contacts_the_registry_when_used(registry: Registry) -> None:
    session = Session()
    session.load(catalog("http://127.0.0.1:1"), "job.sql")
    for statement in ("SHOW TABLES FROM c.kafka", "SELECT * FROM c.kafka.t"):
        found = failure(session, statement)
        assert "SCHEMA_REGISTRY_UNREACHABLE" in found
        assert "check the option 'schema-registry.url' and the credentials" in found
    session.catalog.external.offline = True
    needed = failure(session, "SELECT * FROM c.kafka.t")
    assert "SERVER_NEEDED: table c.kafka.t needs a server, and this command" in needed
    name = f"later_{uuid.uuid4().hex[:8]}"
    session = Session()
    session.load(catalog(registry.url), "job.sql")
    failure(session, f"DESCRIBE c.kafka.{name}")
    register(registry.url, f"{name}-value", VALUE)
    assert len(columns(session, f"c.kafka.{name}")) == 3


def test_secrets_are_not_shown(registry: Registry, topic: str) -> None:
    session = Session()
    secrets = {
        "schema-registry.basic-auth.credentials-source": "USER_INFO",
        "schema-registry.basic-auth.user-info": "me:geheimnis",
        "properties.sasl.jaas.config": 'M required password="verborgen";',
    }
    url = registry.url.replace("http://", "http://you:inderurl@")
    session.load(catalog(url, **secrets), "job.sql")
    texts = [
        *answer(session, "SHOW CREATE CATALOG c"),
        *answer(session, "DESCRIBE CATALOG EXTENDED c"),
        *answer(session, f"SHOW CREATE TABLE c.kafka.{topic}"),
        (failure(session, "DESCRIBE c.kafka.nothing_like_it"),),
    ]
    for word in ("geheimnis", "verborgen", "inderurl"):
        assert not [text for text in texts if word in str(text)]
    assert "****" in str(texts)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            {"schema-registry.url": "nowhere"},
            "option 'schema-registry.url' has the value 'nowhere'",
        ),
        (
            {"schema-registry.basic-auth.user-info": "a:b"},
            "sets 'schema-registry.basic-auth.user-info' without",
        ),
        ({"scan.startup.mode": "timestamp"}, "INVALID_OPTION"),
        ({"schema": "x"}, "UNKNOWN_OPTION"),
        ({"schema-registry.schema": "x"}, "UNKNOWN_OPTION"),
        ({"properties.transactional.id": "x"}, "OPTION_NOT_SETTABLE"),
        ({"type": "schema-registri"}, "NOT_YET: a catalog of type 'schema-registri'"),
    ],
)
def test_invalid_options_of_a_catalog(given: dict[str, str], expected: str) -> None:
    assert expected in failure(Session(), catalog("http://x:1", **given))
