"""Datasets of tables, as lineage events name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class Dataset:
    """A dataset by OpenLineage's naming conventions.

    Attributes:
        namespace: the system that holds it, such as `kafka://broker:9092`.
        name: its name in the system, such as a topic.
    """

    namespace: str
    name: str


@runtime_checkable
class Located(Protocol):
    """A connector whose tables are datasets that other programs can reach."""

    def datasets(self) -> Sequence[Dataset]:
        """Return the datasets of the table."""
