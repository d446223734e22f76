"""A schema while its declaration is read, and the checks that need nothing but itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.table import PhysicalColumn, Schema, TableColumn, Watermark
from streamtable.sql.place import place_of, put_at


@dataclass(frozen=True)
class KeyDeclared:
    """A primary key, where it is declared, and the name of its constraint."""

    columns: tuple[exp.Identifier, ...]
    at: Span | None
    name: str | None = None


@dataclass(frozen=True)
class WatermarkDeclared:
    """A watermark and where its clause begins."""

    watermark: Watermark
    at: Span | None


#: What stands between the parentheses of CREATE TABLE.
Element = TableColumn | KeyDeclared | WatermarkDeclared


@dataclass
class SchemaDraft:
    """What is known of a table's columns so far.

    Attributes:
        table: name, for messages.
    """

    table: str
    columns: dict[str, TableColumn] = field(default_factory=dict)
    key: KeyDeclared | None = None
    watermark: Watermark | None = None

    @staticmethod
    def of(table: str, schema: Schema) -> SchemaDraft:
        """The draft of a schema that is already checked."""
        key = None
        if schema.primary_key:
            names = tuple(_identifier(name, schema) for name in schema.primary_key)
            key = KeyDeclared(names, None, schema.key_name)
        columns = {column.name: column for column in schema.columns}
        return SchemaDraft(table, columns, key, schema.watermark)

    def take(self, elements: Iterable[Element]) -> SchemaDraft:
        """The same draft, further elements in it.

        Raises:
            StreamtableError: DUPLICATE_COLUMN for a name that is taken, INVALID_PRIMARY_KEY and
                INVALID_WATERMARK for a second one of these.
        """
        for element in elements:
            match element:
                case KeyDeclared():
                    if self.key is not None:
                        raise self._bad_key(element.at, "it is declared twice")
                    self.key = element
                case WatermarkDeclared():
                    if self.watermark is not None:
                        raise self._bad_watermark(element.at, "a table has one at most")
                    self.watermark = element.watermark
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
        """The whole schema, once every element is in: key and watermark may come first.

        Raises:
            StreamtableError: INVALID_PRIMARY_KEY, INVALID_WATERMARK.
        """
        key = tuple(column.name for column in self.key.columns) if self.key else ()
        if self.key:
            self._check_key(self.key)
        if self.watermark:
            self._check_watermark(self.watermark)
        columns = tuple(
            replace(column, type=column.type.with_nullable(nullable=False))
            if isinstance(column, PhysicalColumn) and column.name in key
            else column
            for column in self.columns.values()
        )
        return Schema(columns, key, self.watermark, self.key.name if self.key else None)

    def _check_key(self, key: KeyDeclared) -> None:
        seen: set[str] = set()
        for named in key.columns:
            name, at = named.name, place_of(named)
            if name in seen:
                raise self._bad_key(at, f"it names column '{name}' twice")
            seen.add(name)
            if name not in self.columns:
                hint = closest(name, self.columns)
                raise self._bad_key(at, f"there is no column '{name}'", hint)
            if not isinstance(self.columns[name], PhysicalColumn):
                raise self._bad_key(at, f"column '{name}' is not a physical column")

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
