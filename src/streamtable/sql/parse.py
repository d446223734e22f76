"""Parse text into statements: the entry point of this stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import DataType, Root
from streamtable.sql.lexer.script import NO_FILE, Script
from streamtable.sql.statements.model import Statement
from streamtable.sql.statements.parser import StatementParser


def parse_script(
    text: str, file: str = NO_FILE, variables: Mapping[str, str] | None = None
) -> list[Statement]:
    """Parse a script.

    Args:
        text: any number of statements, separated by `;`.
        file: name of the file, for places.
        variables: values of `${name}`; the environment supplies the rest.

    Returns:
        The statements in order; empty if the text has only comments.

    Raises:
        StreamtableError: SYNTAX, NOT_YET, UNKNOWN_VARIABLE, or an error within a single declaration
            (UNSUPPORTED_TYPE, INVALID_PRIMARY_KEY, ...); always with a place.
    """
    found = []
    for statement in read_script(text, file, variables):
        if isinstance(statement, StreamtableError):
            raise statement
        found.append(statement)
    return found


def read_script(
    text: str,
    file: str = NO_FILE,
    variables: Mapping[str, str] | None = None,
    notice: Callable[[str], None] = lambda _: None,
) -> Iterator[Statement | StreamtableError]:
    """Parse a script and continue after errors; an invalid statement is emitted as its error.

    `notice` receives one line for each notice about a statement.

    After an error in the lexer, the ends of statements are unknown. Such an error is the last item.
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
        parser = StatementParser(tokens, script)
        try:
            statement = parser.statement()
        except StreamtableError as error:
            yield error
            continue
        for line in dict.fromkeys(parser.notices):
            notice(line)
        yield statement


def parse_expression(text: str, file: str = NO_FILE) -> exp.Expr:
    """Parse a single scalar expression; SYNTAX otherwise."""
    return _alone(Script(text, file)).lone_expression()


def parse_query(text: str, file: str = NO_FILE) -> exp.Query:
    """Parse a single query; SYNTAX otherwise."""
    return _alone(Script(text, file)).lone_query()


def read_query(path: str, where: str | None, option: str) -> exp.Query:
    """Return the query of all rows of a table that meet a condition.

    Args:
        path: the table as in SQL.
        where: a condition, parsed as a text of its own so that places refer to it; None for none.
        option: name of the text with the condition, for places.
    """
    query = parse_query(f"SELECT * FROM {path}", path)  # noqa: S608 - parsed, not run
    if where is not None:
        query.set("where", exp.Where(this=parse_expression(where, option)))
    return query


def parse_type(text: str, file: str = NO_FILE) -> DataType:
    """Parse a single type of a user-defined function; SYNTAX or UNSUPPORTED_TYPE otherwise."""
    found = _alone(Script(text, file)).lone_type()
    if found.holds(Root.BITMAP):
        raise StreamtableError(
            Condition.UNSUPPORTED_TYPE,
            at=Span(file, 1, 1),
            found=found.sql(),
            reason="user-defined functions take and return no BITMAP, but its BYTES",
        )
    return found


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
