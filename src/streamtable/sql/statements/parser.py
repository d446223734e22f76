"""Top layer of the parser: parses the tokens of one statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from streamtable.core.errors import closest
from streamtable.core.options import Given
from streamtable.core.types import DataType
from streamtable.sql.lexer.script import Script
from streamtable.sql.lexer.tokens import Kind, Token
from streamtable.sql.queries.parser import QUERY_STARTS
from streamtable.sql.statements.inserts import InsertParser
from streamtable.sql.statements.jobs import JobParser
from streamtable.sql.statements.model import (
    CreateTable,
    CreateTableAs,
    CreateTableLike,
    Explain,
    Insert,
    JarStatement,
    ListOptions,
    ResetOption,
    Select,
    SetOption,
    Statement,
    StatementSet,
)
from streamtable.sql.statements.refused import refused_statement

_DETAILS = ("ESTIMATED_COST", "CHANGELOG_MODE", "PLAN_ADVICE", "JSON_EXECUTION_PLAN")
_UNCLEAR = "put the value in quotes, or end the SET with ';'"
_STATEMENT = "a statement such as CREATE TABLE, INSERT INTO or SELECT"


#: First keywords of statements; inside a statement, no construct can be followed by them.
_STARTS = frozenset(
    [
        "ADD",
        "ALTER",
        "BEGIN",
        "CALL",
        "COMPILE",
        "CREATE",
        "DELETE",
        "DESC",
        "DESCRIBE",
        "DROP",
        "EXECUTE",
        "EXPLAIN",
        "INSERT",
        "LOAD",
        "REMOVE",
        "RESET",
        "SELECT",
        "SET",
        "SHOW",
        "STOP",
        "TRUNCATE",
        "UNLOAD",
        "UPDATE",
        "USE",
    ]
)


class StatementParser(InsertParser, JobParser):
    """Parse statements.

    Args:
        tokens: one statement, closed by an END token.
        script: the script of the tokens; SET reads unquoted keys from its text.
    """

    def __init__(self, tokens: Sequence[Token], script: Script) -> None:
        super().__init__(tokens)
        self._script = script

    def statement(self) -> Statement:
        """Parse all tokens as one statement."""
        found = self._statement()
        self.end()
        return found

    def end(self) -> None:
        """Raise SYNTAX if tokens are left."""
        if self.peek().kind is not Kind.END:
            begins = self.peek().kind is Kind.WORD and self.peek().key in _STARTS
            hint = "add ';' before it if it starts the next statement" if begins else None
            self.fail("the end of the statement", hint)

    def _statement(self) -> Statement:
        refused = refused_statement(self.sees)
        if refused is not None:
            self.refuse(refused)
        of_jobs = self.job_statement()
        if of_jobs is not None:
            return of_jobs
        if self.sees_query():
            return self._select_statement()
        readers: dict[str, Callable[[], Statement]] = {
            "CREATE": self.create,
            "ALTER": self.alter,
            "REPLACE": self.replace,
            "DROP": self.drop,
            "USE": self.use,
            "SHOW": self.show,
            "DESCRIBE": self.describe,
            "DESC": self.describe,
            "INSERT": self.insert,
            "EXECUTE": self._execute,
            "BEGIN": self._begin,
            "ADD": self._jar,
            "REMOVE": self._jar,
            "SET": self._set,
            "RESET": self._reset,
            "EXPLAIN": self._explain,
        }
        reader = readers.get(self.peek().key)
        if reader is None:
            self.fail(_STATEMENT, hint=closest(self.peek().text, (*readers, "STOP", *QUERY_STARTS)))
        return reader()

    def _select_statement(self) -> Select:
        at = self.peek().at
        return Select(self.query(), at)

    def _execute(self) -> Statement:
        at = self.expect("EXECUTE").at
        if self.sees("STATEMENT"):
            self.expect("STATEMENT", "SET")
            self.expect("BEGIN")
            return self.statement_set(at)
        if self.sees("INSERT"):
            return self.insert()
        if not self.sees_query():
            self.fail("STATEMENT SET, INSERT or a query")
        return self._select_statement()

    def _begin(self) -> StatementSet:
        at = self.expect("BEGIN").at
        self.expect("STATEMENT", "SET")
        self.expect(";")
        return self.statement_set(at)

    def _jar(self) -> JarStatement:
        keyword = self.take()
        self.expect("JAR")
        path = self.text("the path of the jar in quotes")
        return JarStatement(keyword.key, path, keyword.at)

    def _set(self) -> SetOption | ListOptions:
        at = self.expect("SET").at
        if self.peek().kind is Kind.END:
            return ListOptions(at)
        key_at = self.peek().at
        key = self._key()
        self.expect("=")
        value = self.peek()
        if value.kind not in (Kind.STRING, Kind.BARE):
            self.fail("the value of the setting")
        self.take()
        if value.kind is Kind.BARE and self.peek().kind is not Kind.END:
            self.fail("the end of the statement", _UNCLEAR)
        return SetOption(key, Given(value.text, value.at), at, key_at=key_at)

    def _reset(self) -> ResetOption:
        at = self.expect("RESET").at
        if self.peek().kind is Kind.END:
            return ResetOption(None, at)
        key_at = self.peek().at
        return ResetOption(self._key(), at, key_at)

    def _key(self) -> str:
        """Parse the key of a setting: a string, or the raw text up to white space or `=`."""
        if self.peek().kind is Kind.STRING:
            return self.take().text
        first = self.peek()
        if first.kind is Kind.END or first.key == "=":
            self.fail("the key of a setting")
        self.take()
        while self.peek().start <= self.last.end and self.peek().kind is not Kind.END:
            if self.sees("="):
                break
            self.take()
        return self._script.source(first, self.last)

    def _explain(self) -> Explain:
        at = self.expect("EXPLAIN").at
        details: tuple[str, ...] = ()
        if self.sees_any(*_DETAILS):
            details = tuple(self.comma_separated(self._detail))
        else:
            self.accept("PLAN", "FOR")
        return Explain(self._explained(), at, details)

    def _detail(self) -> str:
        if not self.sees_any(*_DETAILS):
            self.fail(", ".join(_DETAILS[:-1]) + f" or {_DETAILS[-1]}")
        return self.take().key

    def _explained(self) -> Insert | StatementSet | Select | CreateTableAs:
        at = self.peek().at
        if self.sees("INSERT"):
            return self._insert_explained()
        if self.accept("CREATE", "TABLE"):
            return self._create_explained(self.create_table(at, temporary=False))
        if self.accept("CREATE", "OR", "REPLACE", "TABLE"):
            return self._create_explained(self.replace_table(at, temporary=False))
        if self.sees("REPLACE", "TABLE"):
            return self.replace()
        if self.sees_query():
            return self._select_statement()
        self.accept("EXECUTE")
        if not self.sees("STATEMENT"):
            self.fail("INSERT INTO, a query or STATEMENT SET")
        self.expect("STATEMENT", "SET")
        self.expect("BEGIN")
        return self.statement_set(at)

    def _insert_explained(self) -> Insert:
        if self.sees("INSERT", "OVERWRITE"):
            self.refuse("INSERT OVERWRITE")
        return self.insert()

    def _create_explained(
        self, found: CreateTable | CreateTableLike | CreateTableAs
    ) -> CreateTableAs:
        if not isinstance(found, CreateTableAs):
            self.fail("AS and a query")
        return found

    def lone_expression(self) -> exp.Expr:
        """Parse all tokens as an expression."""
        found = self.expression()
        self.end()
        return found

    def lone_type(self) -> DataType:
        """Parse all tokens as a type."""
        found = self.data_type()
        self.end()
        return found

    def lone_query(self) -> exp.Query:
        """Parse all tokens as a query."""
        found = self.query()
        self.end()
        return found
