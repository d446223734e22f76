"""Parser layer for ALTER TABLE and ALTER VIEW."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.sql.lexer.tokens import Kind
from streamtable.sql.statements.changes import (
    AddElements,
    AlterTable,
    AlterView,
    Change,
    DropColumns,
    DropKey,
    DropWatermark,
    ModifyElements,
    Placed,
    RenameColumn,
    RenameTo,
    ResetOptions,
    SetOptions,
)
from streamtable.sql.statements.schema import KeyDeclared, WatermarkDeclared
from streamtable.sql.statements.tables import NO_BUCKETS, TableParser


class AlterParser(TableParser):
    """Parse ALTER statements."""

    def alter(self) -> AlterTable | AlterView:
        """Parse `ALTER TABLE ...` or `ALTER VIEW ...`."""
        at = self.expect("ALTER").at
        if self.accept("VIEW"):
            return self._alter_view(at)
        if not self.accept("TABLE"):
            self.fail("TABLE or VIEW")
        if_exists = self.accept("IF", "EXISTS") is not None
        name_at = self.peek().at
        name = self.name("the name of the table")
        change = self._change(".".join(name))
        return AlterTable(name, change, at, if_exists, name_at)

    def _alter_view(self, at: Span) -> AlterView:
        name_at = self.peek().at
        name = self.name("the name of the view")
        if self.sees("RENAME"):
            return AlterView(name, self._rename_to(), at, name_at)
        if not self.accept("AS"):
            self.fail("RENAME TO or AS")
        return AlterView(name, self.query(), at, name_at)

    def _change(self, table: str) -> Change:
        readers: dict[str, Callable[[], Change]] = {
            "SET": self._set_options,
            "RESET": self._reset_options,
            "RENAME": self._rename,
            "ADD": lambda: AddElements(self._placed_elements(table)),
            "MODIFY": lambda: ModifyElements(self._placed_elements(table)),
            "DROP": self._drop_element,
        }
        reader = readers.get(self.peek().key)
        if reader is None:
            self.fail(", ".join(list(readers)[:-1]) + " or DROP")
        return reader()

    def _set_options(self) -> SetOptions:
        self.expect("SET")
        return SetOptions(self.options())

    def _reset_options(self) -> ResetOptions:
        self.expect("RESET")
        found: dict[str, Span] = {}
        for key in self.in_parentheses(lambda: self.expect_kind(Kind.STRING, "a key in quotes")):
            if key.text in found:
                raise StreamtableError(Condition.DUPLICATE_OPTION, at=key.at, option=key.text)
            found[key.text] = key.at
        return ResetOptions(found)

    def _rename(self) -> RenameTo | RenameColumn:
        if self.sees("RENAME", "TO"):
            return self._rename_to()
        self.expect("RENAME")
        old = self._own_column()
        self.expect("TO")
        return RenameColumn(old, self._own_column())

    def _rename_to(self) -> RenameTo:
        self.expect("RENAME", "TO")
        at = self.peek().at
        return RenameTo(self.name("the new name"), at)

    def _own_column(self) -> exp.Identifier:
        column = self.identifier("a column")
        if self.sees("."):
            self.refuse("a change of a field of a column")
        return column

    def _placed_elements(self, table: str) -> tuple[Placed, ...]:
        self.take()
        self._refuse_places()
        if not self.sees("("):
            return tuple(self._placed(table))
        groups = self.in_parentheses(lambda: self._placed(table))
        return tuple(placed for group in groups for placed in group)

    def _refuse_places(self) -> None:
        """Refuse changes of partitions and buckets."""
        if self.sees("DISTRIBUTION"):
            self.refuse("a change of the DISTRIBUTION", hint=NO_BUCKETS)
        if self.sees("PARTITION"):
            self.refuse("a change of the PARTITION")

    def _placed(self, table: str) -> list[Placed]:
        found = self.element(table)
        first, after = False, None
        if not isinstance(found[0], KeyDeclared | WatermarkDeclared):
            if self.accept("FIRST"):
                first = True
            elif self.accept("AFTER"):
                after = self._own_column()
        return [Placed(found[0], first, after), *map(Placed, found[1:])]

    def _drop_element(self) -> DropColumns | DropKey | DropWatermark:
        self.expect("DROP")
        self._refuse_places()
        if self.accept("PRIMARY", "KEY"):
            return DropKey()
        if self.accept("WATERMARK"):
            return DropWatermark()
        if self.accept("CONSTRAINT"):
            return DropKey(self.identifier("the name of the constraint"))
        if self.sees("("):
            return DropColumns(tuple(self.in_parentheses(self._own_column)))
        return DropColumns((self._own_column(),))
