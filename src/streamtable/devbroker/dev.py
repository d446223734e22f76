"""`streamtable dev`: a broker that keeps running between commands, found through a state file.

All files are in `<directory>/dev`: `state.json` while the broker runs, its data and its log. Topics
are kept after `down`. The address is the same after the next `up` if the port is still free. An
optional schema registry stores its schemas in topics of the broker.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.process import Process
from streamtable.devbroker.broker import Broker, is_free
from streamtable.devbroker.registry import Registry, registry_url
from streamtable.jvm.install.cache import cache_dir, locked

#: Default port of Kafka.
_USUAL_PORT = 9092

#: Default port of Confluent's schema registry.
_USUAL_REGISTRY_PORT = 8081


@dataclass(frozen=True)
class RunningRegistry:
    """Schema registry that `up` has started.

    Attributes:
        process: the JVM process.
        port: the port on 127.0.0.1.
    """

    process: Process
    port: int

    @property
    def url(self) -> str:
        """URL of the API."""
        return registry_url(self.port)


@dataclass(frozen=True)
class Running:
    """Broker that `up` has started.

    Attributes:
        process: the JVM process, identified by pid and start time.
        port: the port for clients on 127.0.0.1.
        directory: holds the broker's `data`, `server.properties` and `broker.log`.
        registry: the schema registry; None if it was not requested or has ended.
    """

    process: Process
    port: int
    directory: Path
    registry: RunningRegistry | None = None

    @property
    def bootstrap_servers(self) -> str:
        """`host:port`, for `properties.bootstrap.servers`."""
        return f"127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        """Path of Kafka's own log."""
        return self.directory / "broker.log"


def up(
    directory: Path | None = None,
    *,
    port: int | None = None,
    heap_mb: int = 256,
    schema_registry: bool = False,
) -> Running:
    """Start the broker of this directory (default: the cache directory), or find it running.

    Args:
        directory: parent directory; the files of the broker are in its subdirectory `dev`.
        port: the port to listen on; by default the last port, else 9092, else a free port.
        heap_mb: the JVM's heap in MiB.
        schema_registry: whether to start a schema registry too; a running registry continues in any
            case.

    Raises:
        StreamtableError: DEV_BROKER_RUNNING if the broker runs at another port than the requested
            one; DEV_BROKER_FAILED, DEV_REGISTRY_FAILED and errors of the jars if a server does not
            start.
    """
    home = _home(directory)
    with locked(home / "lock"):
        running = _running(home) or _start(home, port, heap_mb)
        if port not in (None, running.port):
            raise StreamtableError(
                Condition.DEV_BROKER_RUNNING,
                hint="end it with `streamtable dev down`, or give another --dir",
                servers=running.bootstrap_servers,
            )
        if schema_registry and running.registry is None:
            running = _start_registry(home, running)
    return running


def down(directory: Path | None = None, *, delete_data: bool = False) -> Running | None:
    """Stop the broker and registry that `up` has started; return them, or None if nothing ran.

    Args:
        directory: as given to `up`.
        delete_data: whether to delete the topics too, even if no broker ran.
    """
    home = _home(directory)
    with locked(home / "lock"):
        running = _running(home)
        _stop_registry(home)
        if running:
            running.process.stop(grace_seconds=10)
        _state_file(home).unlink(missing_ok=True)
        if delete_data:
            shutil.rmtree(home / "broker", ignore_errors=True)
    return running


def status(directory: Path | None = None) -> Running | None:
    """Return the running broker of this directory, or None."""
    return _running(_home(directory))


def _start(home: Path, port: int | None, heap_mb: int) -> Running:
    _stop_registry(home)
    last = home / "port"
    broker = Broker(
        home / "broker", port=port or _last_port(last, _USUAL_PORT), heap_mb=heap_mb
    ).start()
    if broker.process is None:  # the server died after its first response
        raise StreamtableError(
            Condition.DEV_BROKER_FAILED, hint=f"the whole log is {broker.log}", reason="it ended"
        )
    running = Running(broker.process, broker.port, broker.directory)
    last.write_text(f"{running.port}\n")
    _write_state(home, running)
    return running


def _start_registry(home: Path, running: Running) -> Running:
    last = home / "registry-port"
    registry = Registry(
        home / "broker",
        running.bootstrap_servers,
        port=_last_port(last, _USUAL_REGISTRY_PORT),
    ).start()
    if registry.process is None:  # the server died after its first response
        raise StreamtableError(
            Condition.DEV_REGISTRY_FAILED,
            hint=f"the whole log is {registry.log}",
            reason="it ended",
        )
    last.write_text(f"{registry.port}\n")
    both = replace(running, registry=RunningRegistry(registry.process, registry.port))
    _write_state(home, both)
    return both


def _last_port(last: Path, usual: int) -> int | None:
    """Return the last port, else the default port; None if neither is free."""
    candidates = [int(last.read_text()) if last.exists() else usual, usual]
    return next(filter(is_free, candidates), None)


def _home(directory: Path | None) -> Path:
    return (directory or cache_dir()).absolute() / "dev"


def _state_file(home: Path) -> Path:
    return home / "state.json"


def _write_state(home: Path, running: Running) -> None:
    partial = home / "state.json.partial"
    state = {**asdict(running), "directory": str(running.directory)}
    partial.write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")
    partial.replace(_state_file(home))


def _running(home: Path) -> Running | None:
    """Return the broker of the state file if its process is alive."""
    state = _read_state(home)
    process = Process(**state["process"]) if state else None
    if state is None or process is None or not process.alive:
        return None
    return Running(process, state["port"], Path(state["directory"]), _registry(state))


def _stop_registry(home: Path) -> None:
    """Stop the registry, also if its broker has died: no later command would find the registry."""
    state = _read_state(home)
    registry = _registry(state) if state else None
    if registry:
        registry.process.stop(grace_seconds=10)


def _registry(state: dict[str, Any]) -> RunningRegistry | None:
    found = state.get("registry")
    if not found:
        return None
    process = Process(**found["process"])
    return RunningRegistry(process, found["port"]) if process.alive else None


def _read_state(home: Path) -> dict[str, Any] | None:
    try:
        state: dict[str, Any] = json.loads(_state_file(home).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    return state
