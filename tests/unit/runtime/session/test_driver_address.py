"""The driver's address on a cluster. The address of the master is on this machine."""

from __future__ import annotations

import socket

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.devbroker.broker import free_port
from streamtable.runtime.session.driver_address import check_master, driver_address


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_LOCAL_IP", "SPARK_LOCAL_HOSTNAME"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("master", [None, "local[*]", "local-cluster[1,1,512]"])
def test_spark_on_this_machine_stays_on_the_loopback_address(master: str | None) -> None:
    assert set(driver_address(master).values()) == {"127.0.0.1"}


@pytest.mark.parametrize("master", ["spark://{}:7077", "spark://{}:1,other:2", "k8s://https://{}"])
def test_the_driver_has_the_address_that_reaches_the_master(master: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("127.0.0.7", 9))
        expected = probe.getsockname()[0]
    assert driver_address(master.format("127.0.0.7")) == {"spark.driver.host": expected}


def test_spark_chooses_the_address_for_yarn_and_by_its_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert driver_address("yarn") == {}
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.4")
    assert driver_address("spark://127.0.0.7:7077") == {}


def test_a_master_that_refuses_connections_is_reported() -> None:
    with pytest.raises(StreamtableError) as refused:
        check_master(f"spark://127.0.0.1:{free_port()}")
    assert refused.value.condition is Condition.CLUSTER_UNREACHABLE
    assert "Connection refused" in str(refused.value)


def test_one_reachable_master_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_master(f"spark://127.0.0.1:{free_port()},127.0.0.1:{server.getsockname()[1]}")


@pytest.mark.parametrize("master", ["spark://", "spark://host:port", "k8s://https://"])
def test_a_master_without_an_address_is_refused(master: str) -> None:
    with pytest.raises(StreamtableError, match="write spark://HOST:PORT"):
        check_master(master)
