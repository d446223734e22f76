"""Schema registry (Apicurio) with Confluent's API; it stores its schemas in topics of a broker."""

from __future__ import annotations

import http.client
import json
import subprocess
import time
from pathlib import Path
from typing import Self

from streamtable.core.errors import Condition, InternalError, StreamtableError
from streamtable.core.process import Process
from streamtable.devbroker.broker import free_port, last_lines
from streamtable.devbroker.jars import registry_home
from streamtable.jvm.install.tools import java_tool

_HOST = "127.0.0.1"
_API = "/apis/ccompat/v7"
_STOP_SECONDS = 10.0
_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"

# Default of Confluent's registry. Apicurio's default does not compare a schema with earlier ones.
_COMPATIBILITY = "BACKWARD"


class Registry:
    """Schema registry for one broker. The schemas and ids outlive the registry.

    After `start`, the registry outlives the starter. As a context manager, the registry ends with
    the block, and also with this process, even if this process is killed.

    Args:
        directory: holds `registry.log`; created if missing.
        bootstrap_servers: the broker, which must run.
        port: the port on 127.0.0.1; a free port if None.
        heap_mb: the JVM's heap in MiB.
    """

    def __init__(
        self,
        directory: Path,
        bootstrap_servers: str,
        *,
        port: int | None = None,
        heap_mb: int = 256,
    ) -> None:
        self.log = directory.absolute() / "registry.log"
        self.port = port or free_port()
        self._servers = bootstrap_servers
        self._heap_mb = heap_mb
        self._process: Process | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """URL for the option `url` of a format, and for any client of Confluent's API."""
        return registry_url(self.port)

    @property
    def process(self) -> Process | None:
        """The JVM process, or None if the registry does not run."""
        return self._process if self._process and self._process.alive else None

    def start(self, timeout_seconds: float = 90) -> Self:
        """Start the registry and wait until its API responds, which takes about 11 seconds.

        Raises:
            StreamtableError: DEV_REGISTRY_FAILED with the last lines of the log; JAVA_MISSING or
                RESOURCE_UNAVAILABLE if Java or the registry is not available.
        """
        home = registry_home()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        log_start = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self._child = subprocess.Popen(  # noqa: S603 - java on our own arguments
                self._java(home),
                cwd=home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._process = Process.of(self._child.pid)
        try:
            self._await_answer(time.monotonic() + timeout_seconds, log_start)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop the registry, or kill it after 10 s. Do nothing if it does not run."""
        if self._process:
            self._process.stop(_STOP_SECONDS)
        if self._child:
            self._child.wait()
        if self._guard:
            self._guard.communicate()
        self._process = self._child = self._guard = None

    def __enter__(self) -> Self:
        self.start()
        if self._process:
            self._guard = self._process.guarded()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _java(self, home: Path) -> list[str]:
        jar = next(home.glob("*-runner.jar"), None)
        if jar is None:
            msg = f"no registry in {home}"
            raise InternalError(msg)
        settings = {
            "quarkus.http.host": _HOST,
            "quarkus.http.port": str(self.port),
            "quarkus.http.access-log.enabled": "false",
            "apicurio.storage.kind": "kafkasql",
            "apicurio.kafkasql.bootstrap.servers": self._servers,
            "apicurio.kafkasql.topic": "__registry_journal",
            "apicurio.kafkasql.snapshots.topic": "__registry_snapshots",
            "apicurio.events.kafka.topic": "__registry_events",
        }
        return [
            str(java_tool("java")),
            f"-Xmx{self._heap_mb}m",
            *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError"),
            *(f"-D{key}={value}" for key, value in settings.items()),
            *("-jar", str(jar)),
        ]

    def _await_answer(self, deadline: float, log_start: int) -> None:
        while not self._answers():
            if self.process is None or time.monotonic() > deadline:
                log = self.log.read_bytes()[log_start:].decode("utf-8", "replace")
                why = "it ended" if self.process is None else "no answer in time"
                raise StreamtableError(
                    Condition.DEV_REGISTRY_FAILED,
                    hint=f"the whole log is {self.log}",
                    reason=f"{why}; its log ends: {last_lines(log)}",
                )
            time.sleep(0.2)

    def _answers(self) -> bool:
        """Whether the API responds; sets the compatibility level when it does."""
        try:
            status, found = self._ask("GET", "/config")
            if status == http.client.OK and found.get("compatibilityLevel") == "NONE":
                status, _ = self._ask("PUT", "/config", {"compatibility": _COMPATIBILITY})
        except (OSError, http.client.HTTPException, ValueError):
            return False
        return status == http.client.OK

    def _ask(
        self, method: str, path: str, body: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str]]:
        connection = http.client.HTTPConnection(_HOST, self.port, timeout=5)
        try:
            text = json.dumps(body) if body else None
            connection.request(method, _API + path, text, {"Content-Type": _MEDIA_TYPE})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()


def registry_url(port: int) -> str:
    """Return the URL of the API of a registry on this port."""
    return f"http://{_HOST}:{port}{_API}"
