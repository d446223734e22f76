"""The files of `deploy`: a SparkApplication that its operator accepts, with our settings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from click.testing import CliRunner

from streamtable.cli.main import cli
from streamtable.jvm.install.installed_spark import SPARK_MINORS, minor_of
from streamtable.runtime.submission.line import PROGRAM

DEPLOY = Path(__file__).parents[3] / "deploy"
SCHEMA = json.loads(Path(__file__).with_name("spark_application.json").read_text())


@pytest.fixture
def application() -> dict[str, Any]:
    text = (DEPLOY / "kubernetes" / "spark-application.yaml").read_text()
    found: dict[str, Any] = yaml.safe_load(text)
    return found


def test_the_operator_accepts_the_file(application: dict[str, Any]) -> None:
    jsonschema.validate(application, SCHEMA)


@pytest.mark.parametrize(("field", "value"), [("mode", "clustr"), ("restartPolicie", {})])
def test_the_schema_refuses_mistakes(application: dict[str, Any], field: str, value: Any) -> None:
    application["spec"][field] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(application, SCHEMA)


def test_conf_prints_every_setting(application: dict[str, Any]) -> None:
    done = CliRunner().invoke(cli, ["conf", "--launch", "--format", "json"])
    assert done.exit_code == 0, done.output
    spec = application["spec"]
    given = {**spec["sparkConf"], "spark.driver.memory": spec["driver"]["memory"]}
    assert given == json.loads(done.stdout)


def test_the_pre_stop_hook_stops_the_job(application: dict[str, Any]) -> None:
    spec = application["spec"]
    stop = spec["driver"]["lifecycle"]["preStop"]["exec"]["command"]
    checkpoint = spec["arguments"][spec["arguments"].index("--checkpoint") + 1]
    container = (DEPLOY / "Containerfile").read_text()
    venv = re.search(r"-m venv (\S+)", container)
    assert venv is not None
    assert stop == [f"{venv[1]}/bin/streamtable", "stop", checkpoint]


def test_the_program_options_and_volumes_exist(application: dict[str, Any]) -> None:
    spec = application["spec"]
    container = (DEPLOY / "Containerfile").read_text()
    folder = re.search(r"submission/program/\*\.py (\S+)", container)
    assert folder is not None
    assert spec["mainApplicationFile"] == f"local://{folder[1]}{PROGRAM.name}"
    command, script, *options = spec["arguments"]
    run = cli.get_command(None, command)  # type: ignore[arg-type]
    assert run is not None
    known = {option for param in run.params for option in param.opts}
    assert {word for word in options if word.startswith("--")} <= known
    mounted = {entry["path"] for entry in spec["driver"]["configMaps"]}
    assert str(Path(script).parent) in mounted
    volumes = {entry["name"] for entry in spec["volumes"]}
    for pod in ("driver", "executor"):
        assert {entry["name"] for entry in spec[pod]["volumeMounts"]} == volumes


def test_the_spark_version_is_supported(application: dict[str, Any]) -> None:
    image = re.search(r"^ARG SPARK=([\d.]+)-", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    assert image is not None
    assert application["spec"]["sparkVersion"] == image[1]
    assert minor_of(image[1]) in SPARK_MINORS
