"""A broker with a topic of orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support import ORDERS, send

from streamtable.devbroker.broker import Broker

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Give a broker whose topic `orders` has four orders."""
    with Broker(tmp_path_factory.mktemp("broker")) as running:
        send(running, ORDERS)
        yield running
