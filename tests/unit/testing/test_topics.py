"""`produce` writes all records to the topic or raises an error."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaException

from streamtable.devbroker.broker import free_port
from streamtable.testing.topics import produce


def test_producing_to_an_unreachable_broker_times_out() -> None:
    with pytest.raises(KafkaException, match="timed out"):
        produce(f"127.0.0.1:{free_port()}", "t", [(None, b"1")], seconds=1)
