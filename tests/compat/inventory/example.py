"""Functions of a user, for the examples of CREATE FUNCTION and LATERAL TABLE."""

from __future__ import annotations

from collections.abc import Iterator

from streamtable.udf import udf, udtf


@udf(result_type="BIGINT")
def twice(number: int) -> int:
    """Twice the number."""
    return 2 * number


@udtf(result_types=["STRING"])
def split_words(text: str) -> Iterator[str]:
    """Yield the words of a text."""
    yield from text.split()
