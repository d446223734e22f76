"""`explain`, `validate` and `options`: answers of the front end, without Spark or Kafka."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streamtable.cli.main import cli
from streamtable.connector_api.connectors import CONNECTORS

GOLDEN = Path(__file__).parents[2] / "golden"


def _script(tmp_path: Path, name: str) -> str:
    script = tmp_path / "job.sql"
    text = (GOLDEN / "plans" / f"{name}.sql").read_text()
    script.write_text((GOLDEN / "tables.sql").read_text() + text)
    return str(script)


def _invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_explain_prints_the_plan(tmp_path: Path) -> None:
    result = _invoke("explain", _script(tmp_path, "aggregates/having"))
    assert result.exit_code == 0
    assert result.stdout == (GOLDEN / "plans" / "aggregates" / "having.plan").read_text()


@pytest.mark.parametrize(
    ("plan", "found"),
    [
        ("aggregates/having", "1 INSERT(s)"),
        ("selects/select_shown", "0 INSERT(s) and 2 SELECT(s)"),
    ],
)
def test_validate_counts_inserts_and_selects(plan: str, found: str, tmp_path: Path) -> None:
    script = _script(tmp_path, plan)
    result = _invoke("validate", script)
    assert (result.exit_code, result.stdout) == (0, f"{script}: valid, {found}\n")


@pytest.mark.parametrize("command", ["explain", "validate", "run"])
def test_errors_show_the_position_and_the_script_line(command: str, tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text("\ufeffINSERT INTO nowhere SELECT 1")  # a BOM, as editors on Windows write it
    result = _invoke(command, str(script))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"error: {script}:1:13: UNKNOWN_TABLE: table nowhere does not exist\n"
        "    1 | INSERT INTO nowhere SELECT 1\n"
        "      |             ^\n"
    )


@pytest.mark.parametrize("log", ["text", "json"])
def test_faults_in_a_job_file_with_a_password(log: str, tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text("source:\n  password: ${pw}\n  oops: ${pw}\n")
    result = _invoke("run", str(job), "--log-format", log, "--var", "pw=hidden-4711")
    assert result.exit_code == 1
    assert "JOB_KEY_UNKNOWN: source has no key 'oops'" in result.output
    assert "hidden-4711" not in result.output


def test_explain_refuses_a_job_file(tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text("source:\n")
    result = _invoke("explain", str(job))
    assert result.exit_code == 1
    assert f"NOT_YET: this command for {job}, a data ingestion job," in result.stderr


def test_several_errors_are_reported_together(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(
        """CREATE TABLE a (x INT) WITH ('connector' = 'kafak');
SET 'table.local-time-zon' = 'UTC';
INSERT INTO a SELECT y FROM nowhere;
INSERT INTO nowhere SELECT 1;
"""
    )
    result = _invoke("validate", str(script))
    assert result.exit_code == 1
    told = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert [line.split(": ")[2] for line in told] == [
        "UNKNOWN_CONNECTOR",
        "UNKNOWN_SETTING",
        "UNKNOWN_TABLE",  # `nowhere`; `a` is unknown only because of the first fault
    ]


def test_invalid_settings_do_not_hide_later_errors(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(
        """SET 'table.local-time-zon' = 'UTC';
EXECUTE STATEMENT SET BEGIN
INSERT INTO a SELECT 1;
INSERT INTO b SELECT 1;
END;
SELECT nothing;
"""
    )
    result = _invoke("validate", str(script), "--set", "no.such=1", "--set", "execution.mode=x")
    assert result.exit_code == 1
    told = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    conditions = [re.search(r"\b([A-Z]+_[A-Z_]+): ", line) for line in told]
    assert [found and found[1] for found in conditions] == [
        "UNKNOWN_SETTING",
        "INVALID_OPTION",
        "UNKNOWN_SETTING",
        "UNKNOWN_TABLE",
        "UNKNOWN_TABLE",
        "UNKNOWN_COLUMN",
    ]


@pytest.mark.parametrize("command", ["validate", "explain"])
def test_settings_without_effect_are_reported(command: str, tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text("SET 'table.dml-sync' = 'true';\nSELECT 1;")
    result = _invoke(command, str(script), "--set", "pipeline.classpaths=file:x.jar")
    assert result.exit_code == 0
    dml, classpaths = result.stderr.splitlines()
    assert dml.startswith(f"{script}:1:24: setting 'table.dml-sync' has no effect here: ")
    assert classpaths.startswith("setting 'pipeline.classpaths' has no effect here: ")


def test_set_alone_lists_the_settings(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(
        "SET 'pipeline.name' = 'mine'; SET 'spark.hadoop.fs.s3a.secret.key' = 'abc'; SET;"
    )
    result = _invoke("run", str(script), "--set", "table.dml-sync=true")
    assert result.exit_code == 0
    rows = {
        cells[1].strip(): cells[2].strip()
        for line in result.stdout.splitlines()
        if len(cells := line.split("|")) == 4
    }
    assert rows["key"] == "value"
    assert rows["pipeline.name"] == "mine"
    assert rows["table.dml-sync"] == "true"
    assert rows["execution.runtime-mode"] == "streaming"
    assert rows["spark.hadoop.fs.s3a.secret.key"] == "****"
    assert "abc" not in result.stdout
    assert "table.dml-sync" in result.stderr


def test_a_missing_file_is_reported() -> None:
    result = _invoke("validate", "no/such/job.sql")
    assert result.exit_code == 1
    assert result.stderr == (
        "error: FILE_UNREADABLE: cannot read no/such/job.sql: No such file or directory."
        " Hint: give the path of a SQL script\n"
    )


def test_a_script_without_insert_has_nothing_to_run(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text((GOLDEN / "tables.sql").read_text())
    result = _invoke("run", str(script))
    assert result.exit_code == 1
    assert "NOTHING_TO_RUN" in result.stderr


def test_set_wins_over_the_script(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text("SET 'table.local-time-zone' = 'UTC';")
    assert _invoke("validate", str(script), "--set", "table.local-time-zone=UTC").exit_code == 0
    result = _invoke("validate", str(script), "--set", "table.local-time-zon=UTC")
    assert result.exit_code == 1
    assert "did you mean 'table.local-time-zone'?" in result.stderr


@pytest.mark.parametrize("text", ["novalue", "=x"])
def test_set_takes_pairs(text: str, tmp_path: Path) -> None:
    result = _invoke("validate", str(tmp_path / "job.sql"), "--set", text)
    assert result.exit_code == 2  # click: wrong usage
    assert "is not of the form key=value" in result.stderr


def test_variables_are_substituted(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text("SET 'pipeline.name' = '${name}';")
    assert _invoke("validate", str(script), "--var", "name=job").exit_code == 0
    assert "UNKNOWN_VARIABLE" in _invoke("validate", str(script)).stderr


@pytest.mark.parametrize("connector", CONNECTORS)
def test_options_lists_every_key(connector: str) -> None:
    result = _invoke("options", connector)
    assert result.exit_code == 0
    first = [line.split()[0] for line in result.stdout.splitlines()[1:]]
    assert first == list(CONNECTORS[connector].options.keys())


def test_options_without_a_name_lists_the_names() -> None:
    assert {"kafka", "upsert-kafka", "json", "avro", "settings"} <= set(
        _invoke("options").stdout.split()
    )


def test_options_of_an_unknown_name() -> None:
    assert "did you mean 'upsert-kafka'?" in _invoke("options", "upsert-kafak").stderr


_EXACTLY_ONCE = """SET 'execution.mode' = '{}';
CREATE TABLE s (k INT) WITH (
  'connector' = 'kafka', 'topic' = 's', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset');
CREATE TABLE t (k INT) WITH (
  'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 't');
INSERT INTO t SELECT k FROM s;
"""


@pytest.mark.parametrize(
    ("mode", "arguments"),
    [("micro-batch", ["--mode", "real-time"]), ("real-time", [])],
    ids=["from the command line", "from the script"],
)
def test_mode_of_the_command_line_wins_over_set(
    mode: str, arguments: list[str], tmp_path: Path
) -> None:
    """Real-time mode refuses exactly-once sinks before Spark starts."""
    script = tmp_path / "job.sql"
    script.write_text(_EXACTLY_ONCE.format(mode))
    result = _invoke("run", str(script), "--checkpoint", str(tmp_path / "c"), *arguments)
    assert "t uses exactly-once, which real-time mode does not support" in result.stderr


def test_unknown_mode() -> None:
    result = _invoke("run", "job.sql", "--mode", "fast")
    assert result.exit_code == 2
    assert "'fast' is not one of 'micro-batch', 'real-time', 'auto'" in result.stderr


_NINE_DIGITS = """CREATE TABLE t (
  a TIMESTAMP(9), b TIMESTAMP_LTZ(9) METADATA FROM 'timestamp', c TIMESTAMP(6)
) WITH (
  'connector' = 'kafka', 'topic' = 't', 'properties.bootstrap.servers' = 'b:1', 'format' = 'json');
SELECT CAST(c AS TIMESTAMP(7)) FROM t WHERE a > TIMESTAMP '2026-01-01 00:00:00.123456789';
"""


@pytest.mark.parametrize("command", ["explain", "validate"])
def test_cut_fractional_digits_are_reported_with_positions(command: str, tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text(_NINE_DIGITS)
    result = _invoke(command, str(script))
    told = "fractional digits after the sixth are cut, because Spark keeps microseconds"
    assert (result.exit_code, result.stderr.splitlines()) == (
        0,
        [
            f"{script}:2:5: TIMESTAMP(9): {told}",
            f"{script}:2:21: TIMESTAMP_LTZ(9): {told}",
            f"{script}:5:18: TIMESTAMP(7): {told}",
            f"{script}:5:59: TIMESTAMP '2026-01-01 00:00:00.123456789': {told}",
        ],
    )


JOB = """\
source: {type: mysql, hostname: h, username: u, password: '${pw}', tables: shop.orders}
sink: {type: upsert-kafka, properties.bootstrap.servers: 'b:9092'}
"""


def test_validate_reads_a_job_file(tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(JOB)
    result = _invoke("validate", str(job), "--var", "pw=a-password")
    assert result.exit_code == 0
    assert result.output == f"{job}: valid, a data ingestion job\n"


@pytest.mark.parametrize("command", ["validate", "run", "check", "verify"])
def test_an_error_in_a_job_file_ends_each_command(command: str, tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(JOB.replace("hostname", "hostnam"))
    result = _invoke(command, str(job), "--var", "pw=a-password")
    assert result.exit_code == 1
    assert f"{job}:1:23: JOB_KEY_UNKNOWN: source has no key 'hostnam'" in result.output


@pytest.mark.parametrize("option", ["--mode=auto", "--metrics-port=0"])
def test_options_that_job_files_do_not_support_are_refused(option: str, tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(JOB)
    result = _invoke("run", str(job), option)
    assert result.exit_code == 2
    assert "a data ingestion job" in result.output
