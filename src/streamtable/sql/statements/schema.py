"""Draft of a schema during parsing, and the checks within one declaration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.table import MetadataColumn, PhysicalColumn, Schema, TableColumn, Watermark
from streamtable.core.types import quote
from streamtable.sql.place import place_of, put_at


@dataclass(frozen=True)
class KeyDeclared:
    """A declared primary key with its place and the name of its constraint."""

    columns: tuple[exp.Identifier, ...]
    at: Span | None
    name: str | None = None


@dataclass(frozen=True)
class WatermarkDeclared:
    """A declared watermark and the place of its clause."""

    watermark: Watermark
    at: Span | None


@dataclass(frozen=True)
class PartitionsDeclared:
    """The columns of PARTITIONED BY, and the place of the clause."""

    columns: tuple[exp.Identifier, ...]
    at: Span | None


#: An element between the parentheses of CREATE TABLE.
Element = TableColumn | KeyDeclared | WatermarkDeclared
#: An element of CREATE TABLE's schema.
TableElement = Element | PartitionsDeclared


@dataclass
class SchemaDraft:
    """Draft of a table's schema.

    Attributes:
        table: name of the table, for messages.
    """

    table: str
    columns: dict[str, TableColumn] = field(default_factory=dict)
    key: KeyDeclared | None = None
    watermark: Watermark | None = None
    partitions: PartitionsDeclared | None = None

    @staticmethod
    def of(table: str, schema: Schema) -> SchemaDraft:
        """Return the draft of a schema that is already checked."""
        key = partitions = None
        if schema.primary_key:
            names = tuple(_identifier(name, schema) for name in schema.primary_key)
            key = KeyDeclared(names, None, schema.key_name)
        if schema.partition_keys:
            names = tuple(_identifier(name, schema) for name in schema.partition_keys)
            partitions = PartitionsDeclared(names, None)
        columns = {column.name: column for column in schema.columns}
        return SchemaDraft(table, columns, key, schema.watermark, partitions)

    def take(self, elements: Iterable[TableElement]) -> SchemaDraft:
        """Add elements and return the draft.

        Raises:
            StreamtableError: DUPLICATE_COLUMN for a repeated name; INVALID_PRIMARY_KEY or
                INVALID_WATERMARK for a second key or watermark.
        """
        for element in elements:
            match element:
                case KeyDeclared():
                    if self.key is not None:
                        raise self._bad_key(element.at, "it is declared twice")
                    self.key = element
                case WatermarkDeclared():
                    if self.watermark is not None:
                        raise self._bad_watermark(element.at, "a table has at most one")
                    self.watermark = element.watermark
                case PartitionsDeclared():
                    self.partitions = element
                case _:
                    self._add(element)
        return self

    def _add(self, column: TableColumn) -> None:
        if column.name in self.columns:
            raise StreamtableError(
                Condition.DUPLICATE_COLUMN, at=column.at, column=column.name, table=self.table
            )
        self.columns[column.name] = column

    def schema(self) -> Schema:
        """Return the complete schema; keys and watermarks may precede their columns.

        Raises:
            StreamtableError: INVALID_PRIMARY_KEY, INVALID_WATERMARK, INVALID_PARTITIONS,
                DUPLICATE_METADATA.
        """
        self._check_metadata()
        key = tuple(column.name for column in self.key.columns) if self.key else ()
        if self.key:
            self._check_key(self.key)
        if self.watermark:
            self._check_watermark(self.watermark)
        partitions = tuple(c.name for c in self.partitions.columns) if self.partitions else ()
        if self.partitions:
            self._check_partitions(self.partitions)
        columns = tuple(
            replace(column, type=column.type.with_nullable(nullable=False))
            if isinstance(column, PhysicalColumn) and column.name in key
            else column
            for column in self.columns.values()
        )
        key_name = self.key.name if self.key else None
        return Schema(columns, key, self.watermark, key_name, partitions)

    def _check_metadata(self) -> None:
        """Check that no two columns have the same metadata key (Flink's rule)."""
        seen: dict[str, str] = {}
        for column in self.columns.values():
            if not isinstance(column, MetadataColumn):
                continue
            name, first = column.name, seen.setdefault(column.key, column.name)
            if first != name:
                raise StreamtableError(
                    Condition.DUPLICATE_METADATA,
                    at=column.at,
                    hint=f"compute it instead: {quote(name)} AS CAST({quote(first)} AS ...)",
                    first=first,
                    column=name,
                    table=self.table,
                    key=column.key,
                )

    def _check_key(self, key: KeyDeclared) -> None:
        self._check_named(key.columns, Condition.INVALID_PRIMARY_KEY)

    def _check_partitions(self, partitions: PartitionsDeclared) -> None:
        self._check_named(partitions.columns, Condition.INVALID_PARTITIONS)
        if len(partitions.columns) == len(self.columns):
            raise StreamtableError(
                Condition.INVALID_PARTITIONS,
                at=partitions.at,
                table=self.table,
                reason="it names every column, so that no column is left for the files",
            )

    def _check_named(self, columns: Iterable[exp.Identifier], condition: Condition) -> None:
        """Check that a clause names only physical columns, each once."""

        def bad(at: Span | None, reason: str, hint: str | None = None) -> StreamtableError:
            return StreamtableError(condition, at=at, hint=hint, table=self.table, reason=reason)

        seen: set[str] = set()
        for named in columns:
            name, at = named.name, place_of(named)
            if name in seen:
                raise bad(at, f"it names column '{name}' twice")
            seen.add(name)
            if name not in self.columns:
                raise bad(at, f"there is no column '{name}'", closest(name, self.columns))
            if not isinstance(self.columns[name], PhysicalColumn):
                raise bad(at, f"column '{name}' is not a physical column")

    def _check_watermark(self, watermark: Watermark) -> None:
        if watermark.column not in self.columns:
            hint = closest(watermark.column, self.columns)
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


def _identifier(name: str, schema: Schema) -> exp.Identifier:
    identifier = exp.Identifier(this=name, quoted=True)
    at = schema.place_of(name)
    return identifier if at is None else put_at(identifier, at)
