"""`tools.jar_licences` copies the licences of jars for a wheel."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest
from tools.jar_licences import LicenceMissingError, copy_licences

if TYPE_CHECKING:
    from pathlib import Path


def _jar(path: Path, **texts: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name.replace("__", "/").replace("META/", "META-INF/"), text)
    return path


def test_texts_of_a_jar_are_copied(tmp_path: Path) -> None:
    jar = _jar(tmp_path / "a-1.0.jar", META__LICENSE="law", META__NOTICE="by us", deep__LICENSE="x")
    copy_licences([jar], tmp_path / "out")
    found = {path.name: path.read_text() for path in (tmp_path / "out" / "a-1.0").iterdir()}
    assert found == {"LICENSE": "law", "NOTICE": "by us"}


def test_a_jar_without_a_text_gets_the_known_text(tmp_path: Path) -> None:
    jars = [
        _jar(tmp_path / "slf4j-api-1.7.36.jar"),
        _jar(tmp_path / "jose4j-0.9.6.jar", NOTICE="by them"),
    ]
    copy_licences(jars, tmp_path / "out")
    mit = (tmp_path / "out" / "slf4j-api-1.7.36" / "LICENSE").read_text()
    assert "QOS.ch" in mit
    assert "Permission is hereby granted" in mit
    names = sorted(path.name for path in (tmp_path / "out" / "jose4j-0.9.6").iterdir())
    assert names == ["LICENSE", "NOTICE"]


def test_a_jar_without_a_known_licence_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(
        LicenceMissingError, match=r"unknown-1\.0\.jar carries no licence: add a line"
    ):
        copy_licences([_jar(tmp_path / "unknown-1.0.jar")], tmp_path / "out")
