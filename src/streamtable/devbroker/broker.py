"""One Apache Kafka node (broker and controller in one JVM) in a folder of its own."""

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
from streamtable.devbroker.process import Process
from streamtable.jvm.jars import broker_jars
from streamtable.jvm.tools import java_tool

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HOST = "127.0.0.1"
_PORTS = range(20_000, 32_000)
_LOGGING = Path(__file__).with_name("log4j2.properties")
_STOP_SECONDS = 10.0
_ATTEMPTS = 5
_SHOWN_LINES = 8

#: The JVM's options where a broker is for minutes: its second compiler would only take the time.
_QUICK_START = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

# Small and quick to start: one node needs no replicas, a trial no 50-partition system topics, and
# the cleaner's default buffer (128 MB) would be half of the heap.
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
    # After a kill the controller keeps the node out until its old session is over (9 s by default).
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "log.cleaner.dedupe.buffer.size": str(16 << 20),
}


class _PortTakenError(Exception):
    """Someone bound one of our ports between our choosing and Kafka's binding it."""


class Broker:
    """A real Kafka with transactions and compaction.

    It runs in a session of its own, so a Ctrl-C meant for the starter does not reach it. Started by
    `start`, it outlives the starter; as a context manager, it ends with the block, and with this
    process even if that is killed.

    Args:
        directory: holds `data`, `server.properties` and `broker.log`; created if missing. A broker
            started on the same folder again has the same topics.
        port: the port clients connect to on 127.0.0.1; any free one if None.
        heap_mb: the JVM's heap in MiB; the process takes about as much resident.
        config: Kafka's broker settings, over ours.
        java: options of the JVM; those of a quick start if not given.
        listeners: further ones by their names, each with its security protocol; what they need
            stands in `config`, as `listener.name.<name>.ssl.keystore.location`.
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
        self._child: subprocess.Popen[bytes] | None = None
        self._process: Process | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._ends_with_us = False

    @property
    def port(self) -> int:
        """Where clients connect to; known once started, and the same after a restart."""
        if self._ports is None:
            message = "the broker was never started"
            raise RuntimeError(message)
        return self._ports[0]

    @property
    def bootstrap_servers(self) -> str:
        """`host:port`; known once started, and the same after a restart."""
        return f"{_HOST}:{self.port}"

    def address(self, listener: str) -> str:
        """`host:port` of one of the further listeners; known once started."""
        assert self._ports is not None, "the broker was never started"  # noqa: S101
        return f"{_HOST}:{self._ports[2 + list(self._listeners).index(listener)]}"

    @property
    def process(self) -> Process | None:
        """The JVM, or None while there is none."""
        return self._process if self._process and self._process.alive else None

    @property
    def pid(self) -> int | None:
        """The JVM's process id, or None while there is none."""
        return self.process.pid if self.process else None

    def start(self, timeout_seconds: float = 60) -> Self:
        """Start, and return when Kafka has answered; takes about 3 seconds.

        Raises:
            StreamtableError: DEV_BROKER_FAILED with the log's last lines; JAVA_MISSING or
                RESOURCE_UNAVAILABLE if Java or the broker's jars cannot be had.
        """
        if self.process:
            return self
        # After the first start the ports are a promise, so only the first one may look further.
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
        """End it in order (killed after 10 s); nothing happens if it does not run."""
        self._end(_STOP_SECONDS)

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(0)

    def restart(self) -> None:
        """Stop if it runs, and start again on the same address and data."""
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
        # Kafka's own ids never begin with '-', and its command line would take one for an option.
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        done = subprocess.run(  # noqa: S603 - java on our own arguments
            [
                *(*self._java(), "kafka.tools.StorageTool", "format", "--ignore-formatted"),
                *("-t", "s" + cluster[1:], "-c", str(settings)),
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


def is_free(port: int) -> bool:
    """Whether a server could listen on 127.0.0.1 at that port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port that a server could listen on now.

    Not the system's choice, which is among the ports of outgoing connections: a client that keeps
    trying a broker that is down can there get connected to itself, and then holds its port.
    """
    while not is_free(port := _PORTS[secrets.randbelow(len(_PORTS))]):
        pass
    return port


def _free_ports(clients: int | None, others: int) -> tuple[int, ...]:
    """A port for clients, unless it is given, and different ones for the controller and others."""
    ports = [clients or free_port()]
    while len(ports) <= others:
        port = free_port()
        if port not in ports:
            ports.append(port)
    return tuple(ports)


def _answers(port: int, cluster: str) -> bool:
    """Whether this cluster, not another one on our port, lists a broker that takes requests."""
    try:
        # Asked first, because a client meeting a closed port backs off and complains.
        socket.create_connection((_HOST, port), timeout=1).close()
    except OSError:
        return False
    # Here, so that `streamtable dev status` and the like do without it.
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
    """The end of a server's log in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # Frames of stack traces say where in Kafka, not what is wrong.
    telling = [line for line in lines if not line.startswith("at ")]
    return " | ".join(telling[-_SHOWN_LINES:])
