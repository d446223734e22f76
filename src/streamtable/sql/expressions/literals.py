"""Parser layer for literals."""

from __future__ import annotations

import re
from datetime import date, time

from sqlglot import exp

from streamtable.core import types as t
from streamtable.core.errors import Condition, StreamtableError
from streamtable.sql.expressions.intervals import interval_value
from streamtable.sql.expressions.types import TypeParser, interval_type
from streamtable.sql.lexer.tokens import Kind, Token
from streamtable.sql.nodes import FlinkType, IntervalLiteral, TemporalLiteral
from streamtable.sql.place import put_at

_DATE = r"(\d{4}-\d{1,2}-\d{1,2})"
_TIME = r"(\d{1,2}:\d{1,2}:\d{1,2})(?:\.(\d*))?"
_TEMPORAL = {
    "DATE": (re.compile(_DATE, re.ASCII), "yyyy-MM-dd"),
    "TIME": (re.compile(_TIME, re.ASCII), "HH:mm:ss"),
    "TIMESTAMP": (re.compile(rf"{_DATE} {_TIME}", re.ASCII), "yyyy-MM-dd HH:mm:ss"),
}
_MOST_DIGITS = 9


class LiteralParser(TypeParser):
    """Parse literals."""

    def literal(self) -> exp.Expr | None:
        """Parse a literal; None if the next token is no literal."""
        token = self.peek()
        if token.kind is Kind.STRING:
            return put_at(exp.Literal.string(self._continued_string()), token.at)
        node = self._simple(token)
        if node is not None:
            self.take()
            return put_at(node, token.at)
        if token.key in _TEMPORAL and self.peek(1).kind is Kind.STRING:
            return self._temporal()
        if token.key == "INTERVAL":
            return self._interval_literal()
        return None

    def _continued_string(self) -> str:
        """Consume a string and its continuations, each on a later line, as in Calcite."""
        last = self.take()
        parts = [last.text]
        while self.peek().kind is Kind.STRING:
            if self.peek().at.line <= last.at.line + last.text.count("\n"):
                self.fail("an operator or a comma", "write || between two strings to join them")
            last = self.take()
            parts.append(last.text)
        return "".join(parts)

    def _simple(self, token: Token) -> exp.Expr | None:
        match token.kind, token.key:
            case Kind.NUMBER, _:
                return exp.Literal(this=token.text, is_string=False)
            case Kind.BINARY, _:
                return exp.HexString(this=token.text)
            case _, "TRUE" | "FALSE":
                return exp.Boolean(this=token.key == "TRUE")
            case _, "NULL":
                return exp.Null()
            case _:
                return None

    def _temporal(self) -> TemporalLiteral:
        name = self.take()
        value = self.take()
        pattern, shape = _TEMPORAL[name.key]
        found = pattern.fullmatch(value.text)
        if not found or not _exists(found):
            raise StreamtableError(
                Condition.SYNTAX,
                at=value.at,
                expected=f"{name.key} '{shape}'",
                found=f"'{value.text}'",
            )
        digits = 0 if name.key == "DATE" else len(found[found.re.groups] or "")
        if digits > _MOST_DIGITS:
            raise StreamtableError(
                Condition.UNSUPPORTED_TYPE,
                at=value.at,
                found=f"{name.key}({digits})",
                reason=f"a second has at most {_MOST_DIGITS} digits",
            )
        if name.key == "TIMESTAMP":
            significant = len((found[found.re.groups] or "").rstrip("0"))
            self.report_cut_digits(f"TIMESTAMP '{value.text}'", significant, value.at)
        to = {"DATE": t.DATE, "TIME": t.time(digits), "TIMESTAMP": t.timestamp(digits)}[name.key]
        kind = put_at(FlinkType(this=to.with_nullable(nullable=False)), name.at)
        return put_at(TemporalLiteral(this=value.text, to=kind), name.at)

    def _interval_literal(self) -> IntervalLiteral:
        start = self.expect("INTERVAL")
        sign = (self.accept("-") or self.accept("+") or start).key
        value = self.expect_kind(Kind.STRING, "the interval in quotes, as INTERVAL '5' MINUTE")
        qualifier = self.interval_qualifier()
        text = f"{sign}{value.text}" if sign == "-" else value.text
        try:
            amount = interval_value(value.text, qualifier)
        except ValueError as fault:
            raise StreamtableError(
                Condition.SYNTAX, at=value.at, expected=str(fault), found=f"'{value.text}'"
            ) from None
        to = interval_type(qualifier).with_nullable(nullable=False)
        return put_at(
            IntervalLiteral(
                this=text,
                unit=qualifier.name,
                value=-amount if sign == "-" else amount,
                to=put_at(FlinkType(this=to), start.at),
            ),
            start.at,
        )


def _exists(found: re.Match[str]) -> bool:
    """Return whether the date and the time of day exist."""
    for part in found.groups():
        try:
            if part and "-" in part:
                year, month, day = (int(number) for number in part.split("-"))
                date(year, month, day)
            elif part and ":" in part:
                hour, minute, second = (int(number) for number in part.split(":"))
                time(hour, minute, second)
        except ValueError:
            return False
    return True
