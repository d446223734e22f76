"""Column types of TABLE_MAP events that the library does not know.

The library reads no metadata of these types, and then takes the metadata and the character sets of
later columns from the wrong bytes. Sources: `Table_map_event` of MySQL,
`Field::save_field_metadata` of MariaDB.
"""

from __future__ import annotations

import struct
from typing import Any

from pymysqlreplication import row_event
from pymysqlreplication.column import Column
from pymysqlreplication.row_event import MetadataFieldType, TableMapEvent

#: Types of MariaDB's COMPRESSED columns, and MySQL's VECTOR.
BLOB_COMPRESSED, VARCHAR_COMPRESSED, VECTOR = 140, 141, 242
#: The optional metadata field of VECTOR columns. It is a list of integers, as GEOMETRY_TYPE is.
_VECTOR_DIMENSIONALITY = 13
_is_known_character_column = TableMapEvent._is_character_column  # noqa: SLF001


class TableColumn(Column):  # type: ignore[misc]  # the library has no types
    """A column with its metadata."""

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        if not args:
            return
        kind, packet = args
        if kind in (BLOB_COMPRESSED, VECTOR):
            self.length_size = packet.read_uint8()
        elif kind == VARCHAR_COMPRESSED:
            (self.max_length,) = struct.unpack("<H", packet.read(2))


def _field_type(index: int) -> MetadataFieldType:
    if index == _VECTOR_DIMENSIONALITY:
        return MetadataFieldType.GEOMETRY_TYPE
    return MetadataFieldType(index)


def _is_character_column(kind: int, dbms: str = "mysql") -> bool:
    """Return whether the event has a character set of a column with this type."""
    return kind in (BLOB_COMPRESSED, VARCHAR_COMPRESSED) or bool(
        _is_known_character_column(kind, dbms=dbms)
    )


def teach_library() -> None:
    """Let the library use these types."""
    row_event.Column = TableColumn
    TableMapEvent._is_character_column = staticmethod(_is_character_column)  # noqa: SLF001
    MetadataFieldType.by_index = staticmethod(_field_type)
