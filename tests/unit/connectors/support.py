"""Load the script of a table, or check that it is refused."""

from __future__ import annotations

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.session import Session


def load(sql: str) -> Session:
    session = Session()
    session.load(sql, "job.sql")
    return session


def refused(sql: str, condition: Condition, words: str = "") -> StreamtableError:
    """Check that a script is refused with a condition and some words, and return the error."""
    with pytest.raises(StreamtableError) as found:
        load(sql)
    assert found.value.condition is condition
    assert words in str(found.value)
    return found.value
