"""Parse DDL statements of a binlog: the affected tables and the kind of change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from streamtable.connectors.mysql_cdc.reader.model import TableId

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[ \t][^\n]*|\#[^\n]*|/\*(?!M?!).*?\*/)
      | (?P<version>/\*M?!\d*)
      | (?P<close>\*/)
      | (?P<quoted>`(?:[^`]|``)*`)
      | (?P<text>'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*")
      | (?P<word>[\w$\u0080-\uffff]+)
      | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
#: First and second words of clauses of ALTER TABLE that change rows without row events.
_UNLOGGED = {
    "DISCARD": ("PARTITION", "TABLESPACE"),
    "DROP": ("PARTITION",),
    "EXCHANGE": ("PARTITION",),
    "IMPORT": ("PARTITION", "TABLESPACE"),
    "TRUNCATE": ("PARTITION",),
}
#: Words before KEY where it is no attribute of a column, which makes the column the primary key.
_BEFORE_INDEX = frozenset({"(", ",", "ADD", "BY", "DROP", "FOREIGN", "RENAME", "UNIQUE"})
_CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD"})

Found = tuple[str, TableId, TableId | None]


def tables_of(statement: str, database: str) -> list[Found]:
    """Return the changes of tables by a statement.

    Args:
        statement: the statement in the binlog.
        database: the session's database, for names without a database.

    Returns:
        (kind, table, new name) of each table, with the kinds of `SchemaChange`; empty if the
        statement
        defines something else.
    """
    tokens = _Tokens(statement, database)
    match tokens.word():
        case "CREATE":
            return _create(tokens)
        case "ALTER":
            return _alter(tokens)
        case "DROP":
            return _drop(tokens)
        case "RENAME":
            return _rename(tokens) if tokens.skip("TABLE", "TABLES") else []
        case "TRUNCATE":
            tokens.skip("TABLE")
            return [("truncate", tokens.name(), None)]
    return []


def mentions(statement: str, database: str, wanted: Callable[[TableId], bool]) -> bool:
    """Return whether a statement changes rows of a wanted table; row-based binlogs have none."""
    tokens = _Tokens(statement, database)
    if tokens.word() not in _CHANGES:
        return False
    while not tokens.done:
        if wanted(tokens.name()):
            return True
    return False


def _create(tokens: _Tokens) -> list[Found]:
    replaces = tokens.skip("OR") and tokens.skip("REPLACE")
    if not tokens.skip("TABLE"):  # a temporary table has no rows in the binlog
        return []
    tokens.skip_if_exists()
    table = tokens.name()
    dropped: list[Found] = [("drop", table, None)] if replaces else []
    return [*dropped, ("create", table, None)]


def _drop(tokens: _Tokens) -> list[Found]:
    if tokens.skip("DATABASE", "SCHEMA"):
        tokens.skip_if_exists()
        return [("database", TableId(tokens.name().table, ""), None)]
    if not tokens.skip("TABLE", "TABLES"):
        return []
    tokens.skip_if_exists()
    return [("drop", table, None) for table in tokens.names()]


def _alter(tokens: _Tokens) -> list[Found]:
    while tokens.skip("ONLINE", "OFFLINE", "IGNORE"):
        pass
    if not tokens.skip("TABLE"):
        return []
    tokens.skip_if_exists()
    table = tokens.name()
    depth = 0
    before, adds_key, had_key = "", False, False
    while (token := tokens.next()) is not None:
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token.upper() == "PRIMARY" and tokens.skip("KEY"):
            adds_key, had_key = adds_key or before != "DROP", had_key or before == "DROP"
        if token.upper() == "KEY" and before not in _BEFORE_INDEX:
            adds_key = True  # the attribute of a column
        before = token.upper()
        if depth == 0 and before == "CONVERT" and tokens.skip("PARTITION"):
            return [("unlogged", table, tokens.name_after("TO"))]
        if depth == 0 and before == "CONVERT" and tokens.skip("TABLE"):
            return [("unlogged", table, None), ("drop", tokens.name(), None)]
        if depth == 0 and token.upper() in _UNLOGGED and tokens.skip(*_UNLOGGED[token.upper()]):
            if token.upper() == "TRUNCATE" and tokens.skip("ALL"):
                return [("truncate", table, None)]
            exchanged = tokens.name_after("WITH")
            tables = (table,) if exchanged is None else (table, exchanged)
            return [("unlogged", changed, None) for changed in tables]
        if depth == 0 and token.upper() == "RENAME":
            if tokens.peek("COLUMN", "INDEX", "KEY", "CONSTRAINT"):
                continue
            tokens.skip("TO", "AS", "=")
            return [("rename", table, tokens.name())]
    return [("key" if adds_key and not had_key else "alter", table, None)]


def _rename(tokens: _Tokens) -> list[Found]:
    found: list[Found] = []
    tokens.skip_if_exists()
    while True:
        table = tokens.name()
        if tokens.skip("WAIT"):
            tokens.next()
        tokens.skip("NOWAIT")
        tokens.skip("TO")
        found.append(("rename", table, tokens.name()))
        if not tokens.skip(","):
            return found


class _Tokens:
    """Words, names and signs of a statement, without comments but with versioned comments."""

    def __init__(self, statement: str, database: str) -> None:
        self._database = database
        self._tokens = list(_significant(statement))
        self._at = 0

    def next(self) -> str | None:
        if self._at >= len(self._tokens):
            return None
        self._at += 1
        return self._tokens[self._at - 1]

    @property
    def done(self) -> bool:
        return self._at >= len(self._tokens)

    def word(self) -> str:
        return (self.next() or "").upper()

    def peek(self, *words: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at].upper() in words

    def skip(self, *words: str) -> bool:
        if not self.peek(*words):
            return False
        self._at += 1
        return True

    def skip_if_exists(self) -> None:
        if self.skip("IF"):
            self.skip("NOT")
            self.skip("EXISTS")

    def name(self) -> TableId:
        first = _plain(self.next() or "")
        if self.skip("."):
            return TableId(first, _plain(self.next() or ""))
        return TableId(self._database, first)

    def name_after(self, word: str) -> TableId | None:
        """Return the name after a word and TABLE, as in EXCHANGE PARTITION p WITH TABLE t."""
        while not self.done:
            if self.word() == word and self.skip("TABLE"):
                return self.name()
        return None

    def names(self) -> list[TableId]:
        found = [self.name()]
        while self.skip(","):
            found.append(self.name())
        return found


def _significant(statement: str) -> Iterator[str]:
    for token in _TOKEN.finditer(statement):
        if token.lastgroup not in ("space", "version", "close"):
            yield token.group()


def _plain(name: str) -> str:
    if name[:1] == "`":
        return name[1:-1].replace("``", "`")
    return name[1:-1] if name[:1] == '"' else name
