"""A schema while its declaration is read, and the checks that need nothing but itself."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.table import PhysicalColumn, Schema, TableColumn, Watermark
from streamtable.sql.place import place_of


@dataclass(frozen=True)
class KeyDeclared:
    """A primary key and where it is declared."""

    columns: tuple[exp.Identifier, ...]
    at: Span


@dataclass
class SchemaDraft:
    """What has been read of a table's columns so far.

    Attributes:
        table: name, for messages.
    """

    table: str
    _columns: dict[str, TableColumn] = field(default_factory=dict)
    _key: KeyDeclared | None = None
    _watermark: Watermark | None = None

    def add(self, column: TableColumn) -> None:
        """A further column; DUPLICATE_COLUMN if its name is taken."""
        if column.name in self._columns:
            raise StreamtableError(
                Condition.DUPLICATE_COLUMN, at=column.at, column=column.name, table=self.table
            )
        self._columns[column.name] = column

    def set_key(self, key: KeyDeclared) -> None:
        """The primary key; a second one is INVALID_PRIMARY_KEY."""
        if self._key is not None:
            raise self._bad_key(key.at, "it is declared twice")
        self._key = key

    def set_watermark(self, watermark: Watermark, at: Span) -> None:
        """The watermark; a second one is INVALID_WATERMARK."""
        if self._watermark is not None:
            raise self._bad_watermark(at, "a table has one at most")
        self._watermark = watermark

    def schema(self) -> Schema:
        """The whole schema, once every element is read: key and watermark may come first.

        Raises:
            StreamtableError: INVALID_PRIMARY_KEY, INVALID_WATERMARK.
        """
        key = tuple(column.name for column in self._key.columns) if self._key else ()
        if self._key:
            self._check_key(self._key)
        if self._watermark:
            self._check_watermark(self._watermark)
        columns = tuple(
            replace(column, type=column.type.with_nullable(nullable=False))
            if isinstance(column, PhysicalColumn) and column.name in key
            else column
            for column in self._columns.values()
        )
        return Schema(columns, key, self._watermark)

    def _check_key(self, key: KeyDeclared) -> None:
        seen: set[str] = set()
        for named in key.columns:
            name, at = named.name, place_of(named)
            if name in seen:
                raise self._bad_key(at, f"it names column '{name}' twice")
            seen.add(name)
            if name not in self._columns:
                hint = closest(name, self._columns)
                raise self._bad_key(at, f"there is no column '{name}'", hint)
            if not isinstance(self._columns[name], PhysicalColumn):
                raise self._bad_key(at, f"column '{name}' is not a physical column")

    def _check_watermark(self, watermark: Watermark) -> None:
        if watermark.column not in self._columns:
            hint = closest(watermark.column, self._columns)
            raise self._bad_watermark(
                watermark.at, f"there is no column '{watermark.column}'", hint
            )

    def _bad_key(self, at: Span | None, reason: str, hint: str | None = None) -> StreamtableError:
        return StreamtableError(
            Condition.INVALID_PRIMARY_KEY, at=at, hint=hint, table=self.table, reason=reason
        )

    def _bad_watermark(
        self, at: Span | None, reason: str, hint: str | None = None
    ) -> StreamtableError:
        return StreamtableError(
            Condition.INVALID_WATERMARK, at=at, hint=hint, table=self.table, reason=reason
        )
