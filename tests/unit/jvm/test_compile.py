"""Compilation with the real javac, against the real PySpark but no connector."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from streamtable import __version__
from streamtable.core.errors import InternalError
from streamtable.jvm.install import compile as compile_module
from streamtable.jvm.install.compile import for_installed, harness_jar, lint, operators_jar
from streamtable.jvm.install.installed_spark import installed_spark

GOOD = """package p;
import org.apache.spark.sql.Row;
public final class Good { public static int width(Row row) { return row.length(); } }
"""
RAW = "import java.util.*; class Raw { List names() { return new ArrayList(); } }"


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a source folder with one class; the cache is empty, and no jars are fetched."""
    monkeypatch.setenv("STREAMTABLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compile_module, "connector_jars", list[Path])
    folder = tmp_path / "java"
    (folder / "p").mkdir(parents=True)
    (folder / "p" / "Good.java").write_text(GOOD)
    return folder


def test_the_jar_name_has_the_versions_and_a_source_hash(sources: Path) -> None:
    jar = operators_jar(sources)
    spark, version = re.escape(installed_spark().minor), re.escape(__version__)
    assert re.fullmatch(
        rf"streamtable-operators_{spark}_2\.13-{version}-[0-9a-f]{{12}}\.jar", jar.name
    )
    assert zipfile.ZipFile(jar).namelist() == ["p/Good.class"]
    made = jar.stat().st_mtime_ns
    assert operators_jar(sources) == jar
    assert jar.stat().st_mtime_ns == made
    assert [p.name for p in jar.parent.iterdir() if p != jar] == ["lock"]

    (sources / "p" / "Good.java").write_text(GOOD.replace("length()", "size()"))
    assert operators_jar(sources) != jar


def test_sources_that_do_not_compile_are_an_internal_error(sources: Path) -> None:
    (sources / "p" / "Bad.java").write_text('class Bad { int x = "text"; }')
    with pytest.raises(InternalError, match=r"Bad\.java:1: error: incompatible types"):
        operators_jar(sources)


def test_missing_sources_are_an_internal_error(tmp_path: Path) -> None:
    with pytest.raises(InternalError, match="no Java sources"):
        operators_jar(tmp_path)


def test_lint_counts_warnings(sources: Path) -> None:
    assert lint(for_installed(), sources) is None
    (sources / "Raw.java").write_text(RAW)
    assert "[rawtypes]" in (lint(for_installed(), sources) or "")
    assert operators_jar(sources).exists()


def test_the_test_harness_has_a_separate_jar() -> None:
    """A job's jar has no class of the test harness, and the test kit's jar has no other class."""
    jobs, kit = (zipfile.ZipFile(jar).namelist() for jar in (operators_jar(), harness_jar()))
    assert "io/streamtable/testing/OperatorHarness.class" in kit
    assert all(name.startswith("io/streamtable/testing/") for name in kit)
    assert not any(name.startswith("io/streamtable/testing/") for name in jobs)
