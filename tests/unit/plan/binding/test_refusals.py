"""Expressions that cannot be bound are refused: each has its condition and faulty place."""

from __future__ import annotations

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.core.types import BIGINT, INT, STRING, Field, row
from streamtable.plan.binding.expressions import Binder, Input, InputField
from streamtable.sql.parse import parse_expression

ORDERS = Input(
    (
        InputField("o", "id", Field("id", BIGINT.with_nullable(False))),
        InputField("o", "amount", Field("amount", INT)),
        InputField("o", "name", Field("name", STRING)),
        InputField("o", "buyer", Field("buyer", row(Field("city", STRING)))),
        InputField("c", "name", Field("name0", STRING)),
    )
)

CASES = {
    "amont": "1:1: UNKNOWN_COLUMN: column 'amont' does not exist in any input of the query."
    " Hint: did you mean 'amount'?",
    "1 + amont": "1:5: UNKNOWN_COLUMN: column 'amont' does not exist in any input of the query."
    " Hint: did you mean 'amount'?",
    "c.id": "1:1: UNKNOWN_COLUMN: column 'c.id' does not exist in any input of the query."
    " Hint: there are name",
    "AMOUNT": "1:1: UNKNOWN_COLUMN: column 'AMOUNT' does not exist in any input of the query."
    " Hint: did you mean 'amount'?",
    "buyer.town": "1:1: UNKNOWN_COLUMN: column 'town' does not exist in any input of the query."
    " Hint: the value is a ROW<`city` STRING>",
    "name": "1:1: AMBIGUOUS_COLUMN: column 'name' is in more than one input: o, c."
    " Hint: write o.name",
    "UPER(o.name)": "1:1: UNKNOWN_FUNCTION: function UPER does not exist."
    " Hint: did you mean 'UPPER'?",
    "1 + UPPER(amount)": "1:5: ARGUMENT_MISMATCH: UPPER takes (a string), found (INT)",
    "LPAD(o.name, 3)": "1:1: ARGUMENT_MISMATCH: LPAD takes (a string, an INT, a string),"
    " found (STRING, INT NOT NULL)",
    "amount + o.name": "1:1: ARGUMENT_MISMATCH: + takes two numbers, or a date or time with an"
    " interval, found (INT, STRING)",
    "amount = o.name": "1:1: ARGUMENT_MISMATCH: = takes two values that compare, found (INT,"
    " STRING). Hint: CAST one side to the type of the other",
    "amount AND TRUE": "1:1: ARGUMENT_MISMATCH: AND takes a BOOLEAN, found (INT)",
    "NOT amount": "1:5: ARGUMENT_MISMATCH: NOT takes a BOOLEAN, found (INT)",
    "CASE WHEN id = 1 THEN 1 ELSE 'a' END": "1:1: ARGUMENT_MISMATCH: CASE takes values of one"
    " type, found (INT NOT NULL, CHAR(1) NOT NULL). Hint: CAST them to one type",
    "COALESCE(amount, o.name)": "1:1: ARGUMENT_MISMATCH: COALESCE takes (any value, ...), found"
    " (INT, STRING)",
    "CAST(id AS DATE)": "1:6: CAST_UNSUPPORTED: cannot cast BIGINT NOT NULL to DATE",
    "TRY_CAST(buyer AS INT)": "1:10: CAST_UNSUPPORTED: cannot cast ROW<`city` STRING> to INT",
    "ARRAY[1][0]": "1:1: ARGUMENT_MISMATCH: an array's item takes an index that counts from 1,"
    " found (0)",
    "amount[1]": (
        "1:1: ARGUMENT_MISMATCH: [ ] takes an ARRAY, a MAP or a ROW before it, found (INT)"
    ),
    "1 + SUM(amount)": (
        "1:5: AGGREGATE_MISPLACED: SUM is an aggregate and cannot be used in an"
        " expression over single rows. Hint: write a condition on groups in"
        " HAVING, after GROUP BY"
    ),
    "PARSE_JSON(o.name)": (
        "1:1: NOT_YET: function PARSE_JSON is not supported yet. Hint: keep"
        " the string and read it with JSON_VALUE or JSON_QUERY"
    ),
    "RAND(7)": "1:1: NOT_YET: RAND with a seed is not supported yet",
    "amount IN (SELECT 1)": (
        "1:1: NOT_YET: IN with a subquery beside OR, or outside of WHERE and HAVING, is not"
        " supported yet"
    ),
    "99999999999999999999": "1:1: LITERAL_OUT_OF_RANGE: number 99999999999999999999 is out of"
    " range",
    "EXTRACT(YEAR FROM amount)": None,
}


@pytest.mark.parametrize("text", CASES, ids=str)
def test_refused(text: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        Binder(ORDERS).bind(parse_expression(text, "job.sql"))
    expected = CASES[text]
    if expected is None:
        assert refused.value.condition.name == "ARGUMENT_MISMATCH"
        return
    assert str(refused.value) == f"job.sql:{expected}"
