"""What the lower layers of the parser use of the higher ones, as SQL's grammar runs in circles.

The layers, each a class on top of the one before: `cursor`, `types`, `literals`, `forward`,
`json_calls`, `windows`, `calls`, `expressions`, `relations`, `queries`, `tables`, `commands`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from sqlglot import exp

from streamtable.sql.literals import LiteralParser


class Forward(LiteralParser, ABC):
    """The methods that close the circles."""

    @abstractmethod
    def expression(self, power: int = 0) -> exp.Expr:
        """An expression whose operators bind at least as strongly as `power`."""

    @abstractmethod
    def operand(self) -> exp.Expr:
        """An expression without a predicate of its own."""

    @abstractmethod
    def table_name(self) -> exp.Table:
        """The name of a table, without alias."""

    @abstractmethod
    def subquery(self) -> exp.Subquery:
        """A query in parentheses."""

    @abstractmethod
    def sees_query_in_parentheses(self) -> bool:
        """Whether a parenthesis comes next that holds a query."""
