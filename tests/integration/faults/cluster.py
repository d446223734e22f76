"""A standalone Spark cluster on this machine, of the installed PySpark."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import pyspark
from tests import quick_jvm

from streamtable.devbroker.broker import free_port
from streamtable.jvm.install.tools import java_tool

_HOST = "127.0.0.1"
#: Addresses of workers and of a driver that differ from the master's address.
WORKERS, DRIVER = ("127.0.0.2", "127.0.0.3"), "127.0.0.4"
_START_S = 180
_QUICK = quick_jvm.OPTIONS.split()


class Cluster:
    """Run a master and workers with their executors, and kill them at the end of the block.

    Args:
        directory: for logs and the workers' folders.
        workers: number of workers on the master's address, or the address of each worker.
        cores: number of cores of each worker.
    """

    def __init__(self, directory: Path, workers: int | Sequence[str], *, cores: int = 1) -> None:
        self._directory = directory
        self._hosts = [_HOST] * workers if isinstance(workers, int) else list(workers)
        self._cores = cores
        self._port = free_port()
        self._master: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        """The master's address, as `--master` takes it."""
        return f"spark://{_HOST}:{self._port}"

    def __enter__(self) -> Self:
        deploy = "org.apache.spark.deploy"
        port = ("--host", _HOST, "--port", str(self._port), "--webui-port", "0")
        self._master = self._java("master", f"{deploy}.master.Master", *port)
        deadline = time.monotonic() + _START_S
        while not self._listens():
            assert time.monotonic() < deadline, (self._directory / "master.log").read_text()
            time.sleep(0.1)
        for number, host in enumerate(self._hosts):
            name, cores = f"worker-{number}", str(self._cores)
            own = ("--host", host, "--cores", cores, "--memory", "1g", "--webui-port", "0")
            folder = ("--work-dir", str(self._directory / name))
            self.workers.append(
                self._java(name, f"{deploy}.worker.Worker", *own, *folder, self.url, host=host)
            )
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            self.kill(worker)
        if self._master is not None:
            self.kill(self._master)

    @staticmethod
    def kill(machine: subprocess.Popen[bytes]) -> None:
        """Kill a worker and its executors (`kill -9`), as if the machine lost power."""
        try:
            os.killpg(machine.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        machine.wait()

    def executors(self, worker: subprocess.Popen[bytes]) -> list[int]:
        """Return the process ids of the executors that a worker has started."""
        children = Path(f"/proc/{worker.pid}/task").glob("*/children")
        found: list[int] = []
        for of_thread in children:
            with suppress(OSError):  # a thread that has just ended
                found += map(int, of_thread.read_text().split())
        return found

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((_HOST, self._port)) == 0

    def _java(self, name: str, *arguments: str, host: str = _HOST) -> subprocess.Popen[bytes]:
        home = Path(pyspark.__file__).parent
        self._directory.mkdir(exist_ok=True)
        # Spark's start scripts set these variables. Its launcher finds no jars without the last.
        spark = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": host, "SPARK_SCALA_VERSION": "2.13"}
        with (self._directory / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                [java_tool("java"), "-Xmx256m", *_QUICK, "-cp", f"{home}/jars/*", *arguments],
                env={**os.environ, **spark},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
