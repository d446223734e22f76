"""Parts of statements: the place, the INSERTs, the declared name."""

from __future__ import annotations

from collections.abc import Sequence

from streamtable.core.errors import Span
from streamtable.sql.statements.changes import AlterTable, AlterView, RenameTo
from streamtable.sql.statements.model import (
    CreateTable,
    CreateTableAs,
    CreateTableLike,
    CreateView,
    Insert,
    Statement,
    StatementSet,
)


def place_of(statement: Statement) -> Span:
    """Return the start of a statement."""
    if isinstance(statement, CreateTableLike | CreateTableAs):
        return statement.table.at
    return statement.at


def inserts_of(statement: Insert | StatementSet) -> Sequence[Insert]:
    """Return the INSERTs of a statement."""
    return statement.inserts if isinstance(statement, StatementSet) else (statement,)


def declared_by(statement: Statement) -> tuple[str, ...]:
    """Return the name that a statement declares or changes, whole and unqualified."""
    match statement:
        case CreateTableLike() | CreateTableAs():
            return declared_by(statement.table)
        case AlterTable(change=RenameTo() as rename) | AlterView(change=RenameTo() as rename):
            return (".".join(rename.name), rename.name[-1])
        case CreateTable() | CreateView() | AlterTable() | AlterView():
            return (".".join(statement.name), statement.name[-1])
        case _:
            return ()
