"""Scripts of one table, loaded, and what is refused in them."""

from __future__ import annotations

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.session import Session


def load(sql: str) -> Session:
    session = Session()
    session.load(sql, "job.sql")
    return session


def refused(sql: str, condition: Condition, words: str = "") -> StreamtableError:
    """Checks that a script is refused with some words; gives the error."""
    with pytest.raises(StreamtableError) as found:
        load(sql)
    assert found.value.condition is condition
    assert words in str(found.value)
    return found.value
