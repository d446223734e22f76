"""One Apache Kafka node (broker and controller in one JVM) in its own directory."""

from __future__ import annotations

import base64
import os
import secrets
import socket
import subprocess
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Self

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.process import Process
from streamtable.devbroker.jars import broker_jars
from streamtable.jvm.install.tools import java_tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HOST = "127.0.0.1"
_PORTS = range(20_000, 32_000)
_LOGGING = Path(__file__).with_name("log4j2.properties")
_STOP_SECONDS = 10.0
_ATTEMPTS = 5
_SHOWN_LINES = 8

#: JVM options for a short-lived broker, for which the second compiler would only use CPU time.
_QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

# Settings for a small broker and a quick start: one node needs no replicas, a trial needs no system
# topics with 50 partitions, and the cleaner's default buffer (128 MB) would be half of the heap.
_DEFAULTS = {
    "auto.create.topics.enable": "false",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    # After a kill, the controller fences the node until its old session expires (9 s by default).
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    # Keep old records: test data has timestamps of past years, and Kafka's default would delete
    # such records within minutes.
    "log.retention.ms": "-1",
    "log.cleaner.dedupe.buffer.size": str(16 << 20),
}


class _PortTakenError(Exception):
    """Another process has bound one of our ports after we chose it and before Kafka bound it."""


class Broker:
    """Kafka broker with transactions and compaction.

    The broker runs in its own session, so Ctrl-C in the terminal of the starter does not reach it.
    After `start`, the broker outlives the starter. As a context manager, the broker ends with the
    block, and also with this process, even if this process is killed.

    Args:
        directory: holds `data`, `server.properties` and `broker.log`; created if missing. A broker
            that is started again in the same directory has the same topics.
        port: the port for clients on 127.0.0.1; a free port if None.
        heap_mb: the JVM's heap in MiB; the resident memory of the process is about the same.
        config: Kafka's broker settings; they override ours.
        java: options of the JVM; by default options for a quick start.
        listeners: additional listeners by name, each with its security protocol. Set their options
            in `config`, such as `listener.name.<name>.ssl.keystore.location`.
    """

    def __init__(
        self,
        directory: Path,
        *,
        port: int | None = None,
        heap_mb: int = 256,
        java: Sequence[str] = _QUICK_START,
        config: Mapping[str, str] | None = None,
        listeners: Mapping[str, str] | None = None,
    ) -> None:
        self.directory = directory.absolute()
        self.log = self.directory / "broker.log"
        self._wanted_port = port
        self._ports: tuple[int, ...] | None = None
        self._heap_mb = heap_mb
        self._java_options = tuple(java)
        self._config = dict(config or {})
        self._listeners = dict(listeners or {})
        self._cluster = new_cluster_id()
        self._child: subprocess.Popen[bytes] | None = None
        self._process: Process | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._ends_with_us = False

    @property
    def port(self) -> int:
        """Port for clients; known after the start, and unchanged by a restart."""
        if self._ports is None:
            message = "the broker was never started"
            raise RuntimeError(message)
        return self._ports[0]

    @property
    def bootstrap_servers(self) -> str:
        """`host:port`; known after the start, and unchanged by a restart."""
        return f"{_HOST}:{self.port}"

    def address(self, listener: str) -> str:
        """Return `host:port` of an additional listener; known after the start."""
        assert self._ports is not None, "the broker was never started"  # noqa: S101
        return f"{_HOST}:{self._ports[2 + list(self._listeners).index(listener)]}"

    @property
    def process(self) -> Process | None:
        """The JVM process, or None if the broker does not run."""
        return self._process if self._process and self._process.alive else None

    @property
    def pid(self) -> int | None:
        """Process id of the JVM, or None if the broker does not run."""
        return self.process.pid if self.process else None

    def start(self, timeout_seconds: float = 60) -> Self:
        """Start the broker and wait until Kafka responds, which takes about 3 seconds.

        Raises:
            StreamtableError: DEV_BROKER_FAILED with the last lines of the log; JAVA_MISSING or
                RESOURCE_UNAVAILABLE if Java or the broker's jars are not available.
        """
        if self.process:
            return self
        # The ports must not change after the first start, so only the first start may try others.
        free_choice = self._ports is None and self._wanted_port is None
        for attempt in range(_ATTEMPTS):
            ports = self._ports or _free_ports(self._wanted_port, 1 + len(self._listeners))
            try:
                self._start_once(ports, timeout_seconds)
            except _PortTakenError as error:
                if not free_choice or attempt == _ATTEMPTS - 1:
                    reason = f"port {' or '.join(map(str, ports))} is taken"
                    raise self._failed(reason) from error
            else:
                self._ports = ports
                break
        return self

    def stop(self) -> None:
        """Stop the broker gracefully, or kill it after 10 s. Do nothing if it does not run."""
        self._end(_STOP_SECONDS)

    def kill(self) -> None:
        """Kill the broker, which simulates a power failure."""
        self._end(0)

    def restart(self) -> None:
        """Stop the broker if it runs, and start it again with the same address and data."""
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        self._ends_with_us = True
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _end(self, grace_seconds: float) -> None:
        if self._process:
            self._process.stop(grace_seconds)
        if self._child:
            self._child.wait()
        if self._guard:
            self._guard.communicate()
        self._process = self._child = self._guard = None

    def _start_once(self, ports: tuple[int, ...], timeout_seconds: float) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        settings = self.directory / "server.properties"
        settings.write_text(self._properties(ports), encoding="utf-8")
        if not (self.directory / "data" / "meta.properties").exists():
            self._format(settings)
        log_start = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self._child = subprocess.Popen(  # noqa: S603 - java on our own arguments
                [*self._java(), "kafka.Kafka", settings],
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._process = Process.of(self._child.pid)
        if self._process and self._ends_with_us:
            self._guard = self._process.guarded()
        try:
            self._await_answer(ports[0], time.monotonic() + timeout_seconds, log_start)
        except BaseException:
            self.kill()
            raise

    def _java(self) -> list[str]:
        return [
            str(java_tool("java")),
            f"-Xmx{self._heap_mb}m",
            *self._java_options,
            "-XX:+ExitOnOutOfMemoryError",
            f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}",
            *("-cp", os.pathsep.join(map(str, broker_jars()))),
        ]

    def _properties(self, ports: tuple[int, ...]) -> str:
        clients, controller, *others = (f"{_HOST}:{port}" for port in ports)
        listeners = {"PLAINTEXT": clients, "CONTROLLER": controller}
        protocols = {"PLAINTEXT": "PLAINTEXT", "CONTROLLER": "PLAINTEXT", **self._listeners}
        listeners |= dict(zip(self._listeners, others, strict=True))
        listening = ",".join(f"{name}://{address}" for name, address in listeners.items())
        settings = {
            **_DEFAULTS,
            **self._config,
            "process.roles": "broker,controller",
            "node.id": "1",
            "listeners": listening,
            "advertised.listeners": listening,
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": ",".join(f"{k}:{v}" for k, v in protocols.items()),
            "inter.broker.listener.name": "PLAINTEXT",
            "controller.quorum.voters": f"1@{controller}",
            "log.dirs": str(self.directory / "data"),
        }
        return "".join(f"{key}={value}\n" for key, value in settings.items())

    def _format(self, settings: Path) -> None:
        done = subprocess.run(  # noqa: S603 - java on our own arguments
            [
                *(*self._java(), "kafka.tools.StorageTool", "format", "--ignore-formatted"),
                *("-t", self._cluster, "-c", str(settings)),
            ],
            check=False,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode:
            raise self._failed(last_lines(done.stdout))

    def _await_answer(self, port: int, deadline: float, log_start: int) -> None:
        cluster = self._cluster_id()
        while not _answers(port, cluster):
            ended = self.process is None
            if ended or time.monotonic() > deadline:
                log = self.log.read_bytes()[log_start:].decode("utf-8", "replace")
                if "already in use" in log:
                    raise _PortTakenError
                why = "it ended" if ended else "no answer in time"
                reason = f"{why}; its log ends: {last_lines(log)}"
                raise self._failed(reason)
            time.sleep(0.05)

    def _cluster_id(self) -> str:
        meta = (self.directory / "data" / "meta.properties").read_text(encoding="utf-8")
        lines = (line.partition("=") for line in meta.splitlines())
        return next(value for key, _, value in lines if key == "cluster.id")

    def _failed(self, reason: str) -> StreamtableError:
        return StreamtableError(
            Condition.DEV_BROKER_FAILED, hint=f"the whole log is {self.log}", reason=reason
        )


def new_cluster_id() -> str:
    """Return a new cluster id for formatting, in Kafka's form."""
    # An id must not begin with '-': Kafka's command line would parse it as an option.
    return "s" + base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()[1:]


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of 127.0.0.1 now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a port on which a server could listen now.

    The function does not let the system choose, because the system chooses from the ports of
    outgoing connections. A client that retries a connection to a stopped broker on such a port can
    connect to itself, and then blocks the port. It can also reach a server of Spark that got the
    port, whose job then fails for bytes that it cannot read.
    """
    while not is_free(port := _PORTS[secrets.randbelow(len(_PORTS))]):
        pass
    return port


def _free_ports(clients: int | None, others: int) -> tuple[int, ...]:
    """Choose a port for clients, unless given, and other ports for the controller and listeners."""
    ports = [clients or free_port()]
    while len(ports) <= others:
        port = free_port()
        if port not in ports:
            ports.append(port)
    return tuple(ports)


def _answers(port: int, cluster: str) -> bool:
    """Whether this cluster, not another one on our port, lists a broker that accepts requests."""
    try:
        # Test the port first: a Kafka client backs off and logs errors if the port is closed.
        socket.create_connection((_HOST, port), timeout=1).close()
    except OSError:
        return False
    # Imported here, so that `streamtable dev status` and similar commands do not import it.
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    client = AdminClient({"bootstrap.servers": f"{_HOST}:{port}", "log_level": 0})
    try:
        metadata = client.list_topics(timeout=2)
    except KafkaException:
        return False
    answered: str | None = metadata.cluster_id
    return answered == cluster and bool(metadata.brokers)


def last_lines(text: str) -> str:
    """Return the end of a server's log in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # Frames of stack traces show the place in Kafka's code, but not the error.
    telling = [line for line in lines if not line.startswith("at ")]
    return " | ".join(telling[-_SHOWN_LINES:])
