"""Physical columns that a table leaves to its connector."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from streamtable.core.errors import Span
from streamtable.core.options import Given
from streamtable.core.types import Field


@dataclass(frozen=True)
class InferredColumns:
    """The physical columns of a table that declares none.

    Attributes:
        fields: the columns in order.
        primary_key: the columns of the key; empty if the table has none, or declares it.
        options: options that the table has besides those that it declares.
    """

    fields: tuple[Field, ...]
    primary_key: tuple[str, ...] = ()
    options: Mapping[str, Given] = field(default_factory=dict)


@dataclass(frozen=True)
class WithoutColumns:
    """The declaration of a table without physical columns.

    Attributes:
        table: the table's name, for messages.
        primary_key: its declared primary key; empty if it has none.
        options: its WITH clause.
        at: its position.
        offline: whether no server may be asked.
    """

    table: str
    primary_key: tuple[str, ...]
    options: Mapping[str, Given]
    at: Span | None
    offline: bool = False


#: Finds the columns of a table, also by asking a server. It returns None if the options do not tell
#: them, or raises StreamtableError.
Infer = Callable[[WithoutColumns], InferredColumns | None]
