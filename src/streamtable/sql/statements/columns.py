"""Parser layer for the elements of a table: columns, keys, watermark."""

from __future__ import annotations

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.table import (
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    TableColumn,
    Watermark,
)
from streamtable.sql.queries.parser import QueryParser
from streamtable.sql.statements.model import Name
from streamtable.sql.statements.schema import Element, KeyDeclared, WatermarkDeclared

NOT_ENFORCED_ONLY = "it must be NOT ENFORCED, as Flink does not own the data and cannot check it"


class ColumnParser(QueryParser):
    """Parse columns, keys and watermarks."""

    def name(self, expected: str) -> Name:
        """Parse a table's name as strings."""
        return tuple(part.name for part in self.path(expected))

    def elements(self, table: str) -> list[Element]:
        """Parse `(column | key | watermark, ...)`.

        Args:
            table: name of the table, for messages.
        """
        groups = self.in_parentheses(lambda: self.element(table))
        return [element for group in groups for element in group]

    def element(self, table: str) -> list[Element]:
        """Parse one element; a column with PRIMARY KEY gives two."""
        start = self.peek()
        if self.accept("WATERMARK", "FOR"):
            return [WatermarkDeclared(self._watermark(), start.at)]
        if self.sees_any("CONSTRAINT") or self.sees("PRIMARY", "KEY") or self.sees("UNIQUE", "("):
            name = self._constraint_name()
            self._refuse_unique()
            self.expect("PRIMARY", "KEY")
            columns = self.in_parentheses(lambda: self.identifier("a column"))
            self._not_enforced(table, start.at)
            return [KeyDeclared(tuple(columns), start.at, name)]
        return self._declared_column(table)

    def _declared_column(self, table: str) -> list[Element]:
        at = self.peek().at
        column = self.identifier("a column, WATERMARK or PRIMARY KEY")
        name = column.name
        found: TableColumn
        if self.accept("AS"):
            expression: exp.Expr = self.expression()
            return [ComputedColumn(name, expression, at, self.comment())]
        kind = self.data_type()
        if self.accept("METADATA"):
            key = self.text("the metadata key in quotes") if self.accept("FROM") else name
            virtual = self.accept("VIRTUAL") is not None
            found = MetadataColumn(name, kind, key, virtual, at, self.comment())
            return [found]
        declared = self._column_constraint(table, column)
        found = PhysicalColumn(name, kind, at, self.comment())
        return [found, *declared]

    def comment(self) -> str | None:
        """Parse `COMMENT '...'`, if present."""
        return self.text("the comment in quotes") if self.accept("COMMENT") else None

    def _constraint_name(self) -> str | None:
        if not self.accept("CONSTRAINT"):
            return None
        return self.identifier("the name of the constraint").name

    def _column_constraint(self, table: str, column: exp.Identifier) -> list[KeyDeclared]:
        start = self.peek()
        name = self._constraint_name()
        self._refuse_unique()
        if self.accept("PRIMARY", "KEY"):
            self._not_enforced(table, start.at)
            return [KeyDeclared((column,), start.at, name)]
        if start is not self.peek():
            self.fail("PRIMARY KEY")
        return []

    def _refuse_unique(self) -> None:
        if self.sees("UNIQUE"):
            self.refuse("a UNIQUE constraint")

    def _not_enforced(self, table: str, at: Span) -> None:
        if self.accept("NOT", "ENFORCED"):
            return
        self.accept("ENFORCED")
        raise StreamtableError(
            Condition.INVALID_PRIMARY_KEY,
            at=at,
            hint="write NOT ENFORCED after it",
            table=table,
            reason=NOT_ENFORCED_ONLY,
        )

    def _watermark(self) -> Watermark:
        column_at = self.peek().at
        column = self.identifier("a column").name
        if self.sees("."):
            self.refuse("a watermark on a field of a column", column_at)
        self.expect("AS")
        expression: exp.Expr = self.expression()
        return Watermark(column, expression, column_at)
