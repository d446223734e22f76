"""One secured broker for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.integration.security.support import SecuredBroker


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    made = SecuredBroker.of(tmp_path_factory.mktemp("secured"))
    with made.broker:
        made.add_users()
        yield made
