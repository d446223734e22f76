"""Statements in a text that is being typed, in a script, or in a cell of a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from streamtable.api.result import Result
from streamtable.api.session import Session
from streamtable.core.errors import StreamtableError
from streamtable.sql.lexer.script import Script

#: What a lexer error has found if a quote or a comment is still open.
_OPEN = "the end of"


def is_whole(text: str, variables: Mapping[str, str]) -> bool:
    """Return whether a typed text ends with a `;` that ends its last statement.

    A semicolon in a string, a comment or a statement set does not count. A text with an error of
    the lexer, other than an open quote or comment, counts as whole: running it tells the error.
    """
    try:
        pieces = list(Script(text, variables=variables).statements())
    except StreamtableError as error:
        is_open = str(error.values.get("found", "")).startswith(_OPEN)
        return not is_open and text.rstrip().endswith(";")
    if not pieces:
        return not text.strip().strip(";")
    return text[pieces[-1][-1].start :].startswith(";")


def statements(text: str, file: str, variables: Mapping[str, str]) -> Iterator[str]:
    """Yield each statement of a script, with blanks in place of all text before it.

    Places in messages therefore are places of the script.

    Raises:
        StreamtableError: an error of the lexer.
    """
    for tokens in Script(text, file, variables).statements():
        begin, end = tokens[0].start, tokens[-1].start
        blank = "".join("\n" if character == "\n" else " " for character in text[:begin])
        yield blank + text[begin:end]


def without_leaving(text: str, file: str, variables: Mapping[str, str]) -> str:
    """Return a script without a final QUIT or EXIT, as Flink's client accepts it.

    Raises:
        StreamtableError: an error of the lexer.
    """
    pieces = list(Script(text, file, variables).statements())
    leaves = pieces and [token.key for token in pieces[-1][:-1]] in (["QUIT"], ["EXIT"])
    return text[: pieces[-1][0].start] if leaves else text


def results(
    session: Session, text: str, variables: Mapping[str, str], file: str
) -> Iterator[Result]:
    """Run the statements of a text one after the other, and yield the result of each.

    Nothing runs unless all statements are valid.

    Raises:
        StreamtableError: an error of the text, or the first error of a run.
    """
    pieces = list(statements(text, file, variables))
    if len(pieces) > 1:
        session.check(text, variables, file, apart=True)
    for piece in pieces:
        yield session.execute_sql(piece, variables, file=file)
