"""Parser layer for INSERT INTO and the INSERTs of a statement set."""

from __future__ import annotations

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given
from streamtable.sql.lexer.tokens import Kind
from streamtable.sql.place import place_of, put_at
from streamtable.sql.statements.definitions import DefinitionParser
from streamtable.sql.statements.model import Conflicts, Insert, OnConflict, StatementSet


class InsertParser(DefinitionParser):
    """Parse INSERT INTO."""

    def insert(self) -> Insert:
        """Parse `INSERT INTO ...`."""
        at = self.expect("INSERT").at
        self.expect("INTO")
        target_at = self.peek().at
        target = self.name("the name of a table")
        given: dict[str, Given] = {}
        for hint in self.hints():
            if hint.name != "OPTIONS":
                self.refuse(f"hint {hint.name} on the target of an INSERT", hint.meta["at"])
            given.update(hint.options)
        partition = self._partition()
        columns: tuple[str, ...] = ()
        if self.sees("(") and not self.sees_query():
            columns = self.column_names()
        if not self.sees_query():
            self.fail("SELECT, VALUES or WITH")
        query = self.query()
        on_conflict = self._on_conflict()
        return Insert(target, query, at, columns, given, target_at, on_conflict, partition)

    def _partition(self) -> dict[str, exp.Literal]:
        """Parse `PARTITION (column = value, ...)`, if present."""
        values: dict[str, exp.Literal] = {}
        if not self.accept("PARTITION"):
            return values
        for name, value in self.in_parentheses(self._partition_value):
            if name.name in values:
                raise StreamtableError(
                    Condition.DUPLICATE_COLUMN,
                    at=place_of(name),
                    column=name.name,
                    table="PARTITION",
                )
            values[name.name] = value
        return values

    def _partition_value(self) -> tuple[exp.Identifier, exp.Literal]:
        name = self.identifier("a column")
        self.expect("=")
        at = self.peek().at
        sign = self.accept("-") or self.accept("+")
        value = self.peek()
        if value.kind is not Kind.NUMBER and (sign or value.kind is not Kind.STRING):
            self.fail("a string in quotes or a number")
        self.take()
        text = f"{sign.text}{value.text}" if sign else value.text
        literal = exp.Literal(this=text, is_string=value.kind is Kind.STRING)
        return name, put_at(literal, at)

    def _on_conflict(self) -> OnConflict | None:
        """Parse ON CONFLICT, if present."""
        clause = self.accept("ON", "CONFLICT")
        if clause is None:
            return None
        self.expect("DO")
        names = [conflicts.value for conflicts in Conflicts]
        if not self.sees_any(*names):
            self.fail(", ".join(names[:-1]) + f" or {names[-1]}")
        return OnConflict(Conflicts(self.take().key), clause.at)

    def statement_set(self, at: Span) -> StatementSet:
        """Parse the INSERTs of a statement set, and END."""
        inserts = [self._insert_of_set()]
        while not self.accept("END"):
            inserts.append(self._insert_of_set())
        return StatementSet(tuple(inserts), at)

    def _insert_of_set(self) -> Insert:
        if not self.sees("INSERT"):
            self.fail("INSERT INTO")
        if self.sees("INSERT", "OVERWRITE"):
            self.refuse("INSERT OVERWRITE")
        found = self.insert()
        self.expect(";")
        return found
