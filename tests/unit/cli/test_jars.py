"""`streamtable jars`: the files exist and have the classes that tasks load."""

from __future__ import annotations

import zipfile
from pathlib import Path

from click.testing import CliRunner

from streamtable.cli.deploy.jars import command


def test_jars_exist() -> None:
    lines = CliRunner().invoke(command).output.splitlines()
    names: set[str] = set()
    for line in lines:
        names.update(zipfile.ZipFile(Path(line)).namelist())
    assert "io/streamtable/query/StateOrder.class" in names
    assert "org/apache/kafka/clients/producer/KafkaProducer.class" in names
    commas = CliRunner().invoke(command, ["--commas"]).output
    assert commas == ",".join(lines) + "\n"
