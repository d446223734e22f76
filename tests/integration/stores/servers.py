"""Servers of file systems for tests: HDFS in one JVM, and an S3 server of moto."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from streamtable.devbroker.broker import free_port
from streamtable.jvm.install.jars import JarSet
from streamtable.jvm.install.tools import java_tool, pyspark_jars

_HERE = Path(__file__).parent
#: Hadoop's settings for both S3 servers.
_S3_SETTINGS: Mapping[str, str] = {
    "fs.s3a.endpoint.region": "us-east-1",
    "fs.s3a.path.style.access": "true",
    "fs.s3a.access.key": "test",
    "fs.s3a.secret.key": "test",
    # moto does not answer the asynchronous client as S3 does: it repeats "100 Continue".
    "fs.s3a.optimized.copy.from.local.enabled": "false",
}
_HDFS = JarSet("hdfs", "HDFS for tests", "56 MB", _HERE / "ivy.xml")


@dataclass(frozen=True)
class Store:
    """A file system of Hadoop.

    Attributes:
        root: URI of a folder that everyone may write.
        closed: URI of a folder that the user of the tests may not write.
        hadoop: Hadoop's settings of a job that uses the file system.
    """

    root: str
    closed: str
    hadoop: Mapping[str, str] = field(default_factory=dict)

    def arguments(self) -> list[str]:
        """Return the arguments of `streamtable run` for the settings."""
        pairs = (("--set", f"spark.hadoop.{key}={value}") for key, value in self.hadoop.items())
        return [argument for pair in pairs for argument in pair]


@contextmanager
def hdfs(directory: Path) -> Iterator[Store]:
    """Run HDFS with one data node."""
    jars = [*_HDFS.jars(), pyspark_jars() / "*"]
    process = subprocess.Popen(
        [
            *(java_tool("java"), "-Xmx300m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"),
            *(":".join(map(str, jars)), _HERE / "MiniHdfs.java", directory),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=directory,
        env={**os.environ, "HADOOP_USER_NAME": "admin"},  # the user who may write everywhere
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith("ready "):
                address = line.split()[1]
                yield Store(f"{address}/open", f"{address}/closed")
                return
        message = "HDFS did not start"
        raise AssertionError(message)
    finally:
        process.kill()
        process.wait()


@contextmanager
def s3(directory: Path) -> Iterator[Store]:
    """Run an S3 server in memory, and a second server that does not know the user of the tests."""
    with _moto(directory, "bucket") as address, _moto(directory, "locked") as locked:
        addresses = {"fs.s3a.endpoint": address, "fs.s3a.bucket.locked.endpoint": locked}
        yield Store("s3a://bucket/jobs", "s3a://locked/jobs", {**_S3_SETTINGS, **addresses})


@contextmanager
def _moto(directory: Path, bucket: str) -> Iterator[str]:
    """Run a server with one bucket, and yield its address."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    # moto checks the users of all requests after the first.
    rights = {"INITIAL_NO_AUTH_ACTION_COUNT": "1"} if bucket == "locked" else {}
    with (directory / f"{bucket}.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **rights},
        )
    try:
        _create_bucket(address, bucket, process)
        yield address
    finally:
        process.kill()
        process.wait()


def _create_bucket(address: str, bucket: str, process: subprocess.Popen[bytes]) -> None:
    # Every run of pytest imports this module, and few runs need the client.
    import boto3
    from botocore.exceptions import EndpointConnectionError

    client = boto3.client(
        "s3",
        endpoint_url=address,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 - of a server in memory
    )
    end = time.monotonic() + 60
    while True:
        try:
            client.create_bucket(Bucket=bucket)
        except EndpointConnectionError:
            assert process.poll() is None, "moto ended"
            assert time.monotonic() < end, "moto did not start"
            time.sleep(0.1)
        else:
            return
