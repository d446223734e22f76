"""Parser layer for CREATE TABLE, including LIKE and AS."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given
from streamtable.core.table import PhysicalColumn, Schema
from streamtable.sql.lexer.tokens import Token
from streamtable.sql.statements.columns import ColumnParser
from streamtable.sql.statements.likes import FEATURES, Feature, Like, Merging
from streamtable.sql.statements.model import CreateTable, CreateTableAs, CreateTableLike
from streamtable.sql.statements.schema import (
    PartitionsDeclared,
    SchemaDraft,
    TableElement,
)

#: Way out for statements about buckets; Flink refuses an INSERT into such a table, too.
NO_BUCKETS = (
    "no connector has buckets, here or in Flink itself; remove it: the columns of the key choose"
    " the partition of a record"
)
_MERGINGS = tuple(merging.value for merging in Merging)


class TableParser(ColumnParser):
    """Parse table declarations."""

    def replace_table(
        self, at: Span, *, temporary: bool
    ) -> CreateTable | CreateTableLike | CreateTableAs:
        """Parse the rest of `CREATE OR REPLACE [TEMPORARY] TABLE`."""
        found = self.create_table(at, temporary=temporary)
        if isinstance(found, CreateTable):
            return replace(found, replaces=True)
        return replace(found, table=replace(found.table, replaces=True))

    def create_table(
        self, at: Span, *, temporary: bool
    ) -> CreateTable | CreateTableLike | CreateTableAs:
        """Parse the rest of `CREATE [TEMPORARY] TABLE`."""
        if_not_exists = self.accept("IF", "NOT", "EXISTS") is not None
        name_at = self.peek().at
        name = self.name("the name of the table")
        shown = ".".join(name)
        before = self.peek()
        order: tuple[str, ...] = ()
        elements: list[TableElement] = []
        if self._sees_names():
            names = self.in_parentheses(lambda: self.identifier("a column"))
            order = tuple(one.name for one in names)
        elif self.sees("("):
            elements = [*self.elements(shown)]
        comment = self.comment()
        if self.sees("DISTRIBUTED"):
            self.refuse("DISTRIBUTED BY in CREATE TABLE", hint=NO_BUCKETS)
        partitions = self._partitions()
        options: dict[str, Given] = self.options() if self.accept("WITH") else {}
        elements += partitions
        if order and not self.sees("AS"):
            self._only_names(before)
        schema, is_open = Schema(()), False
        if not self.sees_any("LIKE", "AS"):
            is_open = not any(isinstance(one, PhysicalColumn) for one in elements)
            if not is_open:
                schema = SchemaDraft(shown).take(elements).schema()
        table = CreateTable(
            name=name,
            schema=schema,
            options=options,
            at=at,
            comment=comment,
            temporary=temporary,
            if_not_exists=if_not_exists,
            name_at=name_at,
            elements=tuple(elements) if is_open else None,
        )
        if self.sees("LIKE"):
            return CreateTableLike(table, self._like(), tuple(elements))
        if self.accept("AS"):
            if temporary:
                raise StreamtableError(
                    Condition.SYNTAX,
                    at=at,
                    expected="CREATE TABLE ... AS",
                    found="CREATE TEMPORARY TABLE ... AS, which Flink does not have",
                )
            return CreateTableAs(table, self.query(), tuple(elements), order)
        return table

    def _partitions(self) -> list[TableElement]:
        """Parse `PARTITIONED BY (columns)`, if present."""
        at = self.peek().at
        if not self.accept("PARTITIONED", "BY"):
            return []
        columns = self.in_parentheses(lambda: self.identifier("a column"))
        return [PartitionsDeclared(tuple(columns), at)]

    def _sees_names(self) -> bool:
        """Return whether the next parentheses contain only names, as CREATE TABLE AS allows."""
        return self.sees("(") and self.sees_name(1) and self.peek(2).key in (",", ")")

    def _only_names(self, before: Token) -> NoReturn:
        raise StreamtableError(
            Condition.SYNTAX,
            at=before.at,
            expected="columns with their types",
            found="names alone",
            hint="only CREATE TABLE ... LIKE and ... AS SELECT copy columns",
        )

    def _like(self) -> Like:
        self.expect("LIKE")
        at = self.peek().at
        source = self.name("the name of a table")
        found: dict[Feature, Merging] = {}
        if self.accept("("):
            while not self.accept(")"):
                self._like_option(found)
        return Like(source, at, found)

    def _like_option(self, found: dict[Feature, Merging]) -> None:
        start = self.peek()
        if not self.sees_any(*_MERGINGS):
            self.fail(", ".join(_MERGINGS) + " or ')'")
        merging = Merging(self.take().key)
        if not self.sees_any(*(feature.value for feature in Feature)):
            self.fail("one of " + ", ".join(feature.value for feature in Feature))
        feature = Feature(self.take().key)
        allowed = FEATURES[feature]
        if merging not in allowed:
            raise StreamtableError(
                Condition.SYNTAX,
                at=start.at,
                expected=" or ".join(f"{one.value} {feature.value}" for one in allowed),
                found=f"'{merging.value} {feature.value}'",
            )
        if feature in found:
            raise StreamtableError(
                Condition.SYNTAX,
                at=start.at,
                expected=f"one clause for {feature.value}",
                found=f"'{merging.value} {feature.value}' after another",
            )
        found[feature] = merging
