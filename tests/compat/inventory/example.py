"""A user's function, for the example of CREATE FUNCTION."""

from __future__ import annotations

from streamtable.udf import udf


@udf(result_type="BIGINT")
def twice(number: int) -> int:
    """Twice the number."""
    return 2 * number
