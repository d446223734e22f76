"""Comparison of the ids of topics at the start of a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import pytest

from streamtable.connector_api.source import Source
from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.checkpoint.identities import IdentityMonitor


@dataclass
class Topics:
    """A source whose topics have these ids."""

    table: str
    ids: Mapping[str, str]
    at: None = None

    def identities(self, _: Any) -> Mapping[str, str]:
        return self.ids


def _compare(*sources: Topics) -> None:
    IdentityMonitor(cast(list[Source], sources), cast(Any, None), print, {}).compare()


@pytest.mark.parametrize("other", [{"x": "1"}, {"y": "2"}, {}])
def test_sources_of_one_cluster(other: Mapping[str, str]) -> None:
    _compare(Topics("a", {"x": "1"}), Topics("b", other))


def test_topics_of_one_name_on_two_clusters_are_refused() -> None:
    with pytest.raises(StreamtableError) as refused:
        _compare(Topics("a", {"x": "1"}), Topics("b", {"y": "1", "x": "2"}))
    assert refused.value.condition is Condition.OPTION_CONFLICT
    assert "a and b read topics named 'x' of two clusters" in str(refused.value)
