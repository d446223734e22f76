"""Column: name and Flink SQL type."""

from __future__ import annotations

from dataclasses import dataclass

from dbt.adapters.base.column import Column


@dataclass
class StreamtableColumn(Column):
    """A column of a relation; `dtype` is the whole Flink SQL type."""

    @property
    def quoted(self) -> str:
        """The name in backquotes."""
        return f"`{self.column}`"

    @property
    def data_type(self) -> str:
        """The Flink SQL type."""
        return self.dtype
