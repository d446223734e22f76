"""Text -> statements: the door of this stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import DataType
from streamtable.sql.commands import StatementParser
from streamtable.sql.script import NO_FILE, Script
from streamtable.sql.statements import Statement


def parse_script(
    text: str, file: str = NO_FILE, variables: Mapping[str, str] | None = None
) -> list[Statement]:
    """Reads a script.

    Args:
        text: any number of statements, with `;` between.
        file: its name, for places.
        variables: values of `${name}`; the environment supplies the rest.

    Returns:
        The statements in order; none for a text of nothing but comments.

    Raises:
        StreamtableError: SYNTAX, NOT_YET, UNKNOWN_VARIABLE, and what a declaration on its own can
            get wrong (UNSUPPORTED_TYPE, INVALID_PRIMARY_KEY, ...); always with a place.
    """
    found = []
    for statement in read_script(text, file, variables):
        if isinstance(statement, StreamtableError):
            raise statement
        found.append(statement)
    return found


def read_script(
    text: str, file: str = NO_FILE, variables: Mapping[str, str] | None = None
) -> Iterator[Statement | StreamtableError]:
    """Reads a script on past its faults: a statement that is none comes out as its error.

    Where statements begin and end is known only as long as the text can be cut into tokens; a
    fault in that is the last item.
    """
    script = Script(text, file, variables or {})
    pieces = script.statements()
    while True:
        try:
            tokens = next(pieces)
        except StopIteration:
            return
        except StreamtableError as error:
            yield error
            return
        try:
            yield StatementParser(tokens, script).statement()
        except StreamtableError as error:
            yield error


def parse_expression(text: str, file: str = NO_FILE) -> exp.Expr:
    """Reads a scalar expression on its own; SYNTAX unless the text is one."""
    return _alone(Script(text, file)).lone_expression()


def parse_query(text: str, file: str = NO_FILE) -> exp.Query:
    """Reads a query on its own; SYNTAX unless the text is one."""
    return _alone(Script(text, file)).lone_query()


def parse_type(text: str, file: str = NO_FILE) -> DataType:
    """Reads a type on its own; SYNTAX or UNSUPPORTED_TYPE unless the text is one."""
    return _alone(Script(text, file)).lone_type()


def _alone(script: Script) -> StatementParser:
    found = list(script.statements())
    if len(found) != 1:
        raise StreamtableError(
            Condition.SYNTAX,
            at=Span(script.file, 1, 1),
            expected="one statement",
            found=str(len(found)),
        )
    return StatementParser(found[0], script)
