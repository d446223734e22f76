"""Address of the driver, to which the executors of a cluster connect."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from streamtable.core.errors import Condition, StreamtableError

DRIVER_HOST = "spark.driver.host"
BIND_ADDRESS = "spark.driver.bindAddress"
_LOOPBACK = "127.0.0.1"

#: Spark's own variables for the address of this machine.
_SPARK_VARIABLES = ("SPARK_LOCAL_IP", "SPARK_LOCAL_HOSTNAME")

#: Variables that name the folder with the addresses of a YARN cluster.
_HADOOP_VARIABLES = ("HADOOP_CONF_DIR", "YARN_CONF_DIR")

_YARN = "yarn"
_STANDALONE, _KUBERNETES = "spark://", "k8s://"
_HTTPS, _MASTER_PORT = 443, 7077

#: Timeout of a connection to the master, in seconds.
_CONNECT_S = 5.0


def is_local(master: str | None) -> bool:
    """Return whether the tasks of a master run on this machine; None is such a master."""
    return master is None or master.startswith("local")


def driver_address(master: str | None) -> dict[str, str]:
    """Return the settings of the driver's address.

    On a cluster, the address is the one of this machine in the network of the master. Spark decides
    if SPARK_LOCAL_IP or SPARK_LOCAL_HOSTNAME is set, and for YARN, whose master URL has no address.
    """
    if is_local(master):
        return {DRIVER_HOST: _LOOPBACK, BIND_ADDRESS: _LOOPBACK}
    if any(os.environ.get(name) for name in _SPARK_VARIABLES):
        return {}
    found = next(filter(None, map(_own_address, _addresses(str(master)))), None)
    return {DRIVER_HOST: found} if found else {}


def check_master(master: str | None) -> None:
    """Check that a master accepts connections, which Spark itself reports only after a minute.

    Raises:
        StreamtableError: CLUSTER_UNREACHABLE.
    """
    if master == _YARN and not any(os.environ.get(name) for name in _HADOOP_VARIABLES):
        raise StreamtableError(
            Condition.CLUSTER_UNREACHABLE,
            master=master,
            reason="neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set",
            hint="set HADOOP_CONF_DIR to the folder with the cluster's yarn-site.xml",
        )
    reasons = []
    for host, port in _addresses(master or ""):
        try:
            socket.create_connection((host, port), _CONNECT_S).close()
        except OSError as error:
            reasons.append(f"{host}:{port}: {error.strerror or error}")
        else:
            return
    if reasons:
        raise StreamtableError(
            Condition.CLUSTER_UNREACHABLE,
            master=master,
            reason="; ".join(reasons),
            hint="check the address and port of --master, and that this machine may connect to it",
        )


def _addresses(master: str) -> Iterator[tuple[str, int]]:
    """Yield host and port of every address in a master URL; none for YARN and this machine."""
    if master.startswith(_STANDALONE):
        for address in master.removeprefix(_STANDALONE).split(","):
            yield _parsed(f"//{address}", _MASTER_PORT, master)
    elif master.startswith(_KUBERNETES):
        url = master.removeprefix(_KUBERNETES)
        yield _parsed(url if "://" in url else f"https://{url}", _HTTPS, master)


def _parsed(url: str, port: int, master: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url)
        if parts.hostname:
            return parts.hostname, parts.port or port
        reason = "it names no host"
    except ValueError as error:
        reason = str(error)
    raise StreamtableError(
        Condition.CLUSTER_UNREACHABLE,
        master=master,
        reason=reason,
        hint="write spark://HOST:PORT or k8s://https://HOST:PORT",
    )


def _own_address(remote: tuple[str, int]) -> str | None:
    """Return the address from which this machine reaches another one; None if that is unknown.

    The socket is connected without sending anything: the system chooses its own address by the
    route.
    """
    host, port = remote
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind) as probe:
            probe.connect(address)
            return str(probe.getsockname()[0])
    except OSError:
        return None
