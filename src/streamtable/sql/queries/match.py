"""Parser layer for MATCH_RECOGNIZE."""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.sql.lexer.tokens import Kind
from streamtable.sql.nodes import FinalCall, MatchRecognize, MatchSkip, PatternVariable
from streamtable.sql.place import put_at
from streamtable.sql.queries.hints import HintParser

_SINGLE = (1, 1)
#: Quantifiers of one character.
_SIGNS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_ONE_ROW_ONLY = "the only output mode is ONE ROW PER MATCH, as in Flink"


class MatchParser(HintParser):
    """Parse `MATCH_RECOGNIZE (...)` after a relation."""

    #: Whether FINAL and RUNNING may precede a call.
    _matching = False

    def match_recognize(self, relation: exp.Expr) -> MatchRecognize:
        """Parse the clauses in Flink's order.

        Raises:
            StreamtableError: SYNTAX; INVALID_MATCH for a clause or pattern that Flink refuses.
        """
        start = self.expect("MATCH_RECOGNIZE")
        found = put_at(MatchRecognize(this=relation), start.at)
        outside, self._matching = self._matching, True
        opening = self.expect("(")
        if self.accept("PARTITION", "BY"):
            found.set("partition_by", self.comma_separated(self.expression))
        if self.sees("ORDER"):
            found.set("order", self.order_by())
        if self.accept("MEASURES"):
            found.set("measures", self.comma_separated(self._match_measure))
        self._match_output_mode()
        if skip := self.accept("AFTER"):
            found.set("skip", self._match_skip(skip.at))
        self.expect("PATTERN")
        found.set("pattern", self._match_pattern())
        if self.accept("WITHIN"):
            found.set("within", self.expression())
        if self.sees("SUBSET"):
            self._refuse_match("SUBSET is not supported; Flink reads and ignores it")
        self.expect("DEFINE")
        found.set("define", self.comma_separated(self._match_definition))
        self.close(opening)
        self._matching = outside
        return found

    def _match_measure(self) -> exp.Alias:
        at = self.peek().at
        value = self.expression()
        self.expect("AS")
        return put_at(exp.Alias(this=value, alias=self.identifier("the name of a measure")), at)

    def _match_definition(self) -> exp.Alias:
        at = self.peek().at
        name = self.identifier("the name of a pattern variable")
        self.expect("AS")
        return put_at(exp.Alias(this=self.expression(), alias=name), at)

    def _match_output_mode(self) -> None:
        if self.sees("ALL", "ROWS"):
            self._refuse_match(f"ALL ROWS PER MATCH is not supported: {_ONE_ROW_ONLY}")
        if self.accept("ONE"):
            self.expect("ROW", "PER", "MATCH")

    def _match_skip(self, at: Span) -> MatchSkip:
        self.expect("MATCH", "SKIP")
        if self.accept("PAST"):
            self.expect("LAST", "ROW")
            return put_at(MatchSkip(this="PAST LAST ROW"), at)
        self.expect("TO")
        if self.accept("NEXT", "ROW"):
            return put_at(MatchSkip(this="TO NEXT ROW"), at)
        # A variable may have the name FIRST or LAST.
        edge = "TO LAST"
        if (
            self.sees_any("FIRST", "LAST")
            and self.sees_name(1)
            and not self.sees("LAST", "PATTERN")
        ):
            edge = f"TO {self.take().key}"
        variable = self.identifier("NEXT ROW, FIRST, LAST or a pattern variable")
        return put_at(MatchSkip(this=edge, variable=variable), at)

    def _match_pattern(self) -> list[PatternVariable]:
        self.expect("(")
        if self.sees_any("^"):
            self._refuse_match("the anchor ^ has no meaning in a stream; Flink ignores it")
        found = self._pattern_sequence()
        if self.sees_any("$"):
            self._refuse_match("the anchor $ has no meaning in a stream; Flink ignores it")
        self._close_pattern()
        return found

    def _pattern_sequence(self) -> list[PatternVariable]:
        found: list[PatternVariable] = []
        while not self.sees_any(")", "$"):
            if self.sees_any("|", "||"):
                self._refuse_match("alternatives with | are not supported, as in Flink")
            found += self.nested(self._pattern_factor)
        if not found:
            self.fail("a pattern variable")
        return found

    def _pattern_factor(self) -> list[PatternVariable]:
        start = self.peek()
        if self.sees("{", "-"):
            self._refuse_match("exclusion with {- -} is not supported, as in Flink")
        if self.sees("PERMUTE", "("):
            self._refuse_match("PERMUTE is not supported, as in Flink")
        if self.accept("("):
            found = self._pattern_sequence()
            self._close_pattern()
        else:
            name = self.identifier("a pattern variable")
            least, most = _SINGLE
            found = [put_at(PatternVariable(this=name, minimum=least, maximum=most), start.at)]
        grouped = len(found) > 1 or "quantified" in found[0].meta
        quantifier = self._pattern_quantifier()
        if quantifier is None:
            return found
        if grouped:
            self._refuse_match("a quantifier on a group of variables is not supported, as in Flink")
        (variable,) = found
        variable.set("minimum", quantifier[0])
        variable.set("maximum", quantifier[1])
        variable.meta["quantified"] = True
        if self.accept("?"):
            variable.set("reluctant", True)
        return found

    def _pattern_quantifier(self) -> tuple[int, int | None] | None:
        if self.peek().key in _SIGNS:
            return _SIGNS[self.take().key]
        if self.sees("{", "-") or not self.accept("{"):
            return None
        numbers = self.peek().kind is Kind.NUMBER
        least = self.whole_number("a number of rows") if numbers else 0
        most: int | None = least
        if self.accept(","):
            limited = not numbers or not self.sees("}")
            most = self.whole_number("the largest number of rows") if limited else None
        elif not numbers:
            self.fail("a number of rows")
        if not self.accept("}"):
            self.fail("'}'")
        return least, most

    def _close_pattern(self) -> None:
        if not self.accept(")"):
            self.fail("')' to end the pattern")

    def _primary(self) -> exp.Expr:
        token = self.peek()
        modified = self._matching and self.sees_any("FINAL", "RUNNING")
        if not modified or self.peek(1).kind is not Kind.WORD or self.peek(2).key != "(":
            return super()._primary()
        self.take()
        call = self.call()
        if token.key == "RUNNING":
            self._refuse_match(
                "RUNNING is not supported: measures are FINAL, as in Flink", token.at
            )
        return put_at(FinalCall(this=call), token.at)

    def _refuse_match(self, reason: str, at: Span | None = None) -> NoReturn:
        raise StreamtableError(Condition.INVALID_MATCH, at=at or self.peek().at, reason=reason)
