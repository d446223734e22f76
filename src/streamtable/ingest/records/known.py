"""Tables as the job first read them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownTable:
    """A table as the job first read it.

    Attributes:
        columns: names, in order.
        key: columns of the record's key.
        topics: the topics of its rows.
    """

    columns: tuple[str, ...]
    key: tuple[str, ...]
    topics: tuple[str, ...]
