"""Abstract methods that lower parser layers need from higher ones: the grammar is recursive.

Each layer is a subclass of the previous one: `lexer.cursor`, `expressions.types`, `literals`,
`forward`, `json_calls`, `windows`, `calls`, `expressions.parser`, `queries.hints`, `relations`,
`queries.parser`, `statements.columns`, `tables`, `alter`, `catalogs`, `statements.parser`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from sqlglot import exp

from streamtable.sql.expressions.literals import LiteralParser


class Forward(LiteralParser, ABC):
    """Abstract methods for the recursion of the grammar."""

    @abstractmethod
    def expression(self, power: int = 0) -> exp.Expr:
        """Parse an expression whose operators have at least the precedence `power`."""

    @abstractmethod
    def operand(self) -> exp.Expr:
        """Parse an expression without a predicate of its own."""

    @abstractmethod
    def table_name(self) -> exp.Table:
        """Parse the name of a table, without alias."""

    @abstractmethod
    def subquery(self) -> exp.Subquery:
        """Parse a query in parentheses."""

    @abstractmethod
    def sees_query_in_parentheses(self) -> bool:
        """Return whether the next token opens a query in parentheses."""
