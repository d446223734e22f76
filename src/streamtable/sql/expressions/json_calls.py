"""Parser layer for the clauses of SQL/JSON calls."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from streamtable.core.errors import Span
from streamtable.sql.expressions.forward import Forward
from streamtable.sql.nodes import CallClause, FlinkCall
from streamtable.sql.place import put_at

#: Values that JSON_VALUE, JSON_QUERY and JSON_EXISTS may return ON EMPTY or ON ERROR.
_INSTEAD = {
    "JSON_VALUE": (("NULL",), ("ERROR",), ("DEFAULT",)),
    "JSON_QUERY": (("NULL",), ("ERROR",), ("EMPTY", "ARRAY"), ("EMPTY", "OBJECT")),
    "JSON_EXISTS": (("TRUE",), ("FALSE",), ("UNKNOWN",), ("ERROR",)),
}
_WRAPPERS = (
    (("WITHOUT", "ARRAY", "WRAPPER"), "WITHOUT"),
    (("WITHOUT", "WRAPPER"), "WITHOUT"),
    (("WITH", "CONDITIONAL", "ARRAY", "WRAPPER"), "CONDITIONAL"),
    (("WITH", "CONDITIONAL", "WRAPPER"), "CONDITIONAL"),
    (("WITH", "UNCONDITIONAL", "ARRAY", "WRAPPER"), "UNCONDITIONAL"),
    (("WITH", "UNCONDITIONAL", "WRAPPER"), "UNCONDITIONAL"),
    (("WITH", "ARRAY", "WRAPPER"), "UNCONDITIONAL"),
    (("WITH", "WRAPPER"), "UNCONDITIONAL"),
)


class JsonClauses(Forward):
    """Parse JSON_VALUE, JSON_QUERY, JSON_EXISTS, JSON_OBJECT[AGG] and JSON_ARRAY[AGG]."""

    def json_reader(self, name: str) -> Callable[[FlinkCall], None] | None:
        """Return the parser of a call's arguments; None for a call without clauses."""
        readers = {
            "JSON_VALUE": self._json_path_call,
            "JSON_QUERY": self._json_path_call,
            "JSON_EXISTS": self._json_path_call,
            "JSON_OBJECT": self._json_object,
            "JSON_OBJECTAGG": self._json_object,
            "JSON_ARRAY": self._json_array,
            "JSON_ARRAYAGG": self._json_array,
        }
        return readers.get(name)

    def _clause(self, call: FlinkCall, name: str, value: exp.Expr, at: Span) -> None:
        call.append("clauses", put_at(CallClause(this=name, expression=value), at))

    def _json_path_call(self, call: FlinkCall) -> None:
        call.append("expressions", self.expression())
        self.expect(",")
        call.append("expressions", self.expression())
        if at := self.accept("RETURNING"):
            self._clause(call, "RETURNING", self.type_node(), at.at)
        if call.name == "JSON_QUERY":
            self._wrapper(call)
        while not self.sees(")"):
            self._instead(call)

    def _wrapper(self, call: FlinkCall) -> None:
        for words, name in _WRAPPERS:
            if at := self.accept(*words):
                value = put_at(exp.Var(this=name), at.at)
                self._clause(call, "WRAPPER", value, at.at)
                return

    def _instead(self, call: FlinkCall) -> None:
        start = self.peek()
        for words in _INSTEAD[call.name]:
            if self.accept(*words):
                break
        else:
            self.fail("')' or what to give ON EMPTY or ON ERROR")
        value: exp.Expr = put_at(exp.Var(this=" ".join(words)), start.at)
        if words == ("DEFAULT",):
            value = self.expression()
        self.expect("ON")
        if not self.sees_any("EMPTY", "ERROR"):
            self.fail("EMPTY or ERROR")
        self._clause(call, f"ON {self.take().key}", value, start.at)

    def _json_object(self, call: FlinkCall) -> None:
        if not self._sees_on_null() and not self.sees(")"):
            self._pair(call)
            while self.accept(","):
                self._pair(call)
        self._on_null(call)

    def _pair(self, call: FlinkCall) -> None:
        self.accept("KEY")
        call.append("expressions", self.expression())
        if not self.accept(":"):
            self.expect("VALUE")
        call.append("expressions", self.expression())

    def _json_array(self, call: FlinkCall) -> None:
        if not self._sees_on_null() and not self.sees(")"):
            for value in self.comma_separated(self.expression):
                call.append("expressions", value)
        self._on_null(call)

    def _sees_on_null(self) -> bool:
        return self.sees("NULL", "ON", "NULL") or self.sees("ABSENT", "ON", "NULL")

    def _on_null(self, call: FlinkCall) -> None:
        if self._sees_on_null():
            start = self.take()
            self.expect("ON", "NULL")
            self._clause(call, "ON NULL", put_at(exp.Var(this=start.key), start.at), start.at)
