"""Files of a checkpoint on a local disk."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

from streamtable.runtime.session.configuration import LOCAL_FILES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

STREAMING = "org.apache.spark.sql.execution.streaming.checkpointing"


@pytest.fixture(scope="module")
def files(spark: SparkSession) -> Callable[[Path, str | None], Any]:
    """Return a function that makes the file manager of a folder: that of jobs, or a named class."""
    java: Any = spark._jvm

    def made(folder: Path, name: str | None) -> Any:
        configuration = spark._jsparkSession.sessionState().newHadoopConf()
        if name is not None:
            configuration.set("spark.sql.streaming.checkpointFileManagerClass", name)
        path = java.org.apache.hadoop.fs.Path(str(folder))
        manager = java.org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
        return manager.create(path, configuration), java.org.apache.hadoop.fs.Path

    return made


def _write(manager: Any, path: Any, content: bytes, *, overwrite: bool) -> None:
    stream = manager.createAtomic(path, overwrite)
    stream.write(content)
    stream.close()


def test_spark_reads_a_file_that_we_overwrote(
    files: Callable[[Path, str | None], Any], tmp_path: Path
) -> None:
    theirs, path_of = files(tmp_path, f"{STREAMING}.FileContextBasedCheckpointFileManager")
    ours, _ = files(tmp_path, None)
    assert ours.getClass().getSimpleName() == "CheckpointFiles"
    path = path_of(str(tmp_path / "0"))
    _write(theirs, path, b"their first", overwrite=False)
    _write(ours, path, b"ours", overwrite=True)

    opened = theirs.open(path)
    assert bytes(opened.readAllBytes()) == b"ours"
    opened.close()
    assert [file.name for file in tmp_path.iterdir()] == ["0"]


def test_folders_are_created_with_their_parents_and_may_exist(
    files: Callable[[Path, str | None], Any], tmp_path: Path
) -> None:
    ours, path_of = files(tmp_path / "job" / "query", None)
    for _ in range(2):
        assert ours.createCheckpointDirectory().toUri().getPath() == str(tmp_path / "job" / "query")
        ours.mkdirs(path_of(str(tmp_path / "job" / "query" / "state" / "0")))
    assert (tmp_path / "job" / "query" / "state" / "0").is_dir()


def test_an_existing_file_is_kept_unless_overwritten(
    files: Callable[[Path, str | None], Any], tmp_path: Path
) -> None:
    ours, path_of = files(tmp_path, None)
    path = path_of(str(tmp_path / "0"))
    _write(ours, path, b"first", overwrite=False)
    stream = ours.createAtomic(path, False)
    stream.write(b"second")
    with pytest.raises(Py4JJavaError, match="FileAlreadyExistsException"):
        stream.close()
    abandoned = ours.createAtomic(path, True)
    abandoned.write(b"third")
    abandoned.cancel()

    assert (tmp_path / "0").read_bytes() == b"first"


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o1777])
def test_permissions_of_local_files_are_those_of_hadoop(
    mode: int, spark: SparkSession, tmp_path: Path
) -> None:
    """The session has our file system; Hadoop's own one starts a process."""
    hadoop = spark._jvm.org.apache.hadoop.fs  # type: ignore[union-attr]
    file = tmp_path / "file"
    found = []
    for name in (LOCAL_FILES["fs.file.impl"], "org.apache.hadoop.fs.LocalFileSystem"):
        configuration: Any = spark._jsparkSession.sessionState().newHadoopConf()
        if found:
            configuration.set("fs.file.impl", name)
        files = hadoop.Path(str(file)).getFileSystem(configuration)
        assert files.getClass().getName() == name
        file.write_bytes(b"")
        files.setPermission(hadoop.Path(str(file)), hadoop.permission.FsPermission(f"{mode:o}"))
        found.append(stat.S_IMODE(file.stat().st_mode))
        file.unlink()
    assert found == [mode, mode]
