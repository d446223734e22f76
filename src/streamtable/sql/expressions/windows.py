"""Parser layer for ORDER BY and OVER."""

from __future__ import annotations

from sqlglot import exp

from streamtable.sql.expressions.json_calls import JsonClauses
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.place import place_of, put_at

_FRAMES = ("ROWS", "RANGE")


class WindowParser(JsonClauses):
    """Parse sort orders and OVER windows."""

    def order_by(self) -> exp.Order:
        """Parse `ORDER BY a [ASC | DESC] [NULLS FIRST | LAST], ...`."""
        start = self.expect("ORDER", "BY")
        return put_at(exp.Order(expressions=self.comma_separated(self._ordered)), start.at)

    def order_of_argument(self) -> exp.Order:
        """Parse ORDER BY of a table argument: one item, or items in parentheses.

        A comma outside of parentheses separates arguments of the call.
        """
        start = self.expect("ORDER", "BY")
        items = self.in_parentheses(self._ordered) if self.sees("(") else [self._ordered()]
        return put_at(exp.Order(expressions=items), start.at)

    def _ordered(self) -> exp.Ordered:
        at = self.peek().at
        value = self.expression()
        descending = self.accept("DESC") is not None
        if not descending:
            self.accept("ASC")
        nulls_first = None
        if self.accept("NULLS"):
            nulls_first = self.accept("FIRST") is not None
            if not nulls_first:
                self.expect("LAST")
        return put_at(exp.Ordered(this=value, desc=descending, nulls_first=nulls_first), at)

    def over(self, call: FlinkCall) -> exp.Window:
        """Parse `OVER (...)` or `OVER name` after a call."""
        self.expect("OVER")
        at = place_of(call)
        found = exp.Window(this=call)
        if at is not None:
            put_at(found, at)
        if self.sees("("):
            self._window(found)
        else:
            found.set("alias", self.identifier("'(' or the name of a window"))
        return found

    def named_windows(self) -> list[exp.Window]:
        """Parse `w AS (...), ...` after WINDOW."""
        return self.comma_separated(self._named_window)

    def _named_window(self) -> exp.Window:
        at = self.peek().at
        found = put_at(exp.Window(this=self.identifier("the name of a window")), at)
        self.expect("AS")
        self._window(found)
        return found

    def _window(self, found: exp.Window) -> None:
        self.expect("(")
        if self.sees_name() and not self.sees_any(*_FRAMES):
            found.set("alias", self.identifier("the name of a window"))
        if self.accept("PARTITION", "BY"):
            found.set("partition_by", self.comma_separated(self.expression))
        if self.sees("ORDER"):
            found.set("order", self.order_by())
        if self.sees_any(*_FRAMES):
            found.set("spec", self._frame())
        self.expect(")")

    def _frame(self) -> exp.WindowSpec:
        kind = self.take()
        found = put_at(exp.WindowSpec(kind=kind.key), kind.at)
        between = self.accept("BETWEEN") is not None
        self._bound(found, "start")
        if between:
            self.expect("AND")
            self._bound(found, "end")
        else:
            found.set("end", "CURRENT ROW")
        return found

    def _bound(self, frame: exp.WindowSpec, name: str) -> None:
        if self.accept("CURRENT", "ROW"):
            frame.set(name, "CURRENT ROW")
            return
        frame.set(name, "UNBOUNDED" if self.accept("UNBOUNDED") else self.operand())
        if not self.sees_any("PRECEDING", "FOLLOWING"):
            self.fail("PRECEDING or FOLLOWING")
        frame.set(f"{name}_side", self.take().key)
