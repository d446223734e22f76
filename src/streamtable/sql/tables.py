"""The layer of the parser that reads CREATE TABLE: columns, keys, watermark, options."""

from __future__ import annotations

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given
from streamtable.core.table import ComputedColumn, MetadataColumn, PhysicalColumn, Watermark
from streamtable.sql.queries import QueryParser
from streamtable.sql.schema import KeyDeclared, SchemaDraft
from streamtable.sql.statements import CreateTable, Name
from streamtable.sql.tokens import Kind

NOT_ENFORCED_ONLY = "it must be NOT ENFORCED, as Flink does not own the data and cannot check it"

_DERIVED = {"LIKE": "CREATE TABLE ... LIKE", "AS": "CREATE TABLE ... AS SELECT"}


class TableParser(QueryParser):
    """Reads the declaration of a table."""

    def create_table(self, at: Span, *, temporary: bool) -> CreateTable:
        """Everything behind `CREATE [TEMPORARY] TABLE`."""
        if_not_exists = self.accept("IF", "NOT", "EXISTS") is not None
        name_at = self.peek().at
        name = self.name("the name of the table")
        draft = SchemaDraft(".".join(name))
        if not self.sees("("):
            self._without_columns()
        self.expect("(")
        self._element(draft)
        while self.accept(","):
            self._element(draft)
        self.close()
        comment = self.text("the comment in quotes") if self.accept("COMMENT") else None
        if self.sees_any("PARTITIONED", "DISTRIBUTED"):
            self.refuse(f"{self.peek().key} BY in CREATE TABLE")
        options: dict[str, Given] = {}
        if self.accept("WITH"):
            options = self.options()
        self._refuse_derived()
        return CreateTable(
            name=name,
            schema=draft.schema(),
            options=options,
            at=at,
            comment=comment,
            temporary=temporary,
            if_not_exists=if_not_exists,
            name_at=name_at,
        )

    def name(self, expected: str) -> Name:
        """A table's name as strings."""
        return tuple(part.name for part in self.path(expected))

    def _without_columns(self) -> None:
        """Clauses before a LIKE or AS that would give the columns."""
        ahead = 0
        while self.peek(ahead).kind is not Kind.END:
            if self.peek(ahead).key in _DERIVED:
                self.refuse(_DERIVED[self.peek(ahead).key], self.peek(ahead).at)
            ahead += 1

    def _refuse_derived(self) -> None:
        if self.sees_any(*_DERIVED):
            self.refuse(_DERIVED[self.peek().key])

    def _element(self, draft: SchemaDraft) -> None:
        start = self.peek()
        if self.accept("WATERMARK", "FOR"):
            self._watermark(draft, start.at)
        elif self.sees_any("CONSTRAINT") or self.sees("PRIMARY", "KEY") or self.sees("UNIQUE", "("):
            if self.accept("CONSTRAINT"):
                self.identifier("the name of the constraint")
            self._refuse_unique()
            self.expect("PRIMARY", "KEY")
            columns = self.in_parentheses(lambda: self.identifier("a column"))
            self._not_enforced(draft, start.at)
            draft.set_key(KeyDeclared(tuple(columns), start.at))
        else:
            self._declared_column(draft)

    def _declared_column(self, draft: SchemaDraft) -> None:
        at = self.peek().at
        column = self.identifier("a column, WATERMARK or PRIMARY KEY")
        name = column.name
        if self.accept("AS"):
            draft.add(ComputedColumn(name, self.expression(), at))
            self._comment()
            return
        found = self.data_type()
        if not self.accept("METADATA"):
            draft.add(PhysicalColumn(name, found, at))
            self._column_constraint(draft, column)
            self._comment()
            return
        key = self.text("the metadata key in quotes") if self.accept("FROM") else name
        virtual = self.accept("VIRTUAL") is not None
        draft.add(MetadataColumn(name, found, key, virtual, at))
        self._comment()

    def _comment(self) -> None:
        """A column's comment documents the script; nothing of the table depends on it."""
        if self.accept("COMMENT"):
            self.text("the comment in quotes")

    def _column_constraint(self, draft: SchemaDraft, column: exp.Identifier) -> None:
        start = self.peek()
        if self.accept("CONSTRAINT"):
            self.identifier("the name of the constraint")
        self._refuse_unique()
        if self.sees("PRIMARY"):
            self.expect("PRIMARY", "KEY")
            self._not_enforced(draft, start.at)
            draft.set_key(KeyDeclared((column,), start.at))
        elif start is not self.peek():
            self.fail("PRIMARY KEY")

    def _refuse_unique(self) -> None:
        if self.sees("UNIQUE"):
            self.refuse("a UNIQUE constraint")

    def _not_enforced(self, draft: SchemaDraft, at: Span) -> None:
        if self.accept("NOT", "ENFORCED"):
            return
        self.accept("ENFORCED")
        raise StreamtableError(
            Condition.INVALID_PRIMARY_KEY,
            at=at,
            hint="write NOT ENFORCED behind it",
            table=draft.table,
            reason=NOT_ENFORCED_ONLY,
        )

    def _watermark(self, draft: SchemaDraft, at: Span) -> None:
        column_at = self.peek().at
        column = self.identifier("a column").name
        if self.sees("."):
            self.refuse("a watermark on a field of a column", column_at)
        self.expect("AS")
        expression: exp.Expr = self.expression()
        draft.set_watermark(Watermark(column, expression, column_at), at)
