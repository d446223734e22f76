"""`streamtable dev`: one broker that keeps running between commands, found again by a state file.

Everything lies in `<directory>/dev`: `state.json` while a broker is up, its data and its log.
Topics outlive `down`; the address stays the same from one `up` to the next if its port is still
free. A schema registry, where one is asked for, keeps its schemas in topics of the broker.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.devbroker.broker import Broker, is_free
from streamtable.devbroker.process import Process
from streamtable.devbroker.registry import Registry, registry_url
from streamtable.jvm.cache import cache_dir, locked

#: Where Kafka's users expect it.
_USUAL_PORT = 9092

#: Where Confluent's registry listens.
_USUAL_REGISTRY_PORT = 8081


@dataclass(frozen=True)
class RunningRegistry:
    """A schema registry that `up` started.

    Attributes:
        process: the JVM.
        port: where it listens on 127.0.0.1.
    """

    process: Process
    port: int

    @property
    def url(self) -> str:
        """The address of its API."""
        return registry_url(self.port)


@dataclass(frozen=True)
class Running:
    """A broker that `up` started.

    Attributes:
        process: the JVM, named so that a recycled pid is not taken for it.
        port: where clients connect to on 127.0.0.1.
        directory: holds the broker's `data`, `server.properties` and `broker.log`.
        registry: None where none was asked for, or it has ended.
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
        """Kafka's own log."""
        return self.directory / "broker.log"


def up(
    directory: Path | None = None,
    *,
    port: int | None = None,
    heap_mb: int = 256,
    schema_registry: bool = False,
) -> Running:
    """Start the broker of this directory (default: the cache folder), or find it running.

    Args:
        directory: the broker lives in its subfolder `dev`.
        port: where to listen; otherwise the last port, else 9092, else any that is free.
        heap_mb: the JVM's heap in MiB.
        schema_registry: whether one is to run too; one that runs already goes on in any case.

    Raises:
        StreamtableError: DEV_BROKER_RUNNING if it runs at another port than the one asked for;
            DEV_BROKER_FAILED, DEV_REGISTRY_FAILED and those of the jars if one does not start.
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
    """Stop what `up` started there; gives what was stopped, or None if nothing ran.

    Args:
        directory: as given to `up`.
        delete_data: also forget the topics, whether or not a broker ran.
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
    """The broker that runs there, or None."""
    return _running(_home(directory))


def _start(home: Path, port: int | None, heap_mb: int) -> Running:
    _stop_registry(home)
    last = home / "port"
    broker = Broker(
        home / "broker", port=port or _last_port(last, _USUAL_PORT), heap_mb=heap_mb
    ).start()
    if broker.process is None:  # it answered, and died on the way here
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
    if registry.process is None:  # it answered, and died on the way here
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
    """The port of last time, else the usual one; None where neither is free."""
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
    """What the state file names, if that very process is alive."""
    state = _read_state(home)
    process = Process(**state["process"]) if state else None
    if state is None or process is None or not process.alive:
        return None
    return Running(process, state["port"], Path(state["directory"]), _registry(state))


def _stop_registry(home: Path) -> None:
    """Stops the registry, also one whose broker has died: nobody else would find it any more."""
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
