"""Every recorded expression has Flink's type or is refused as in Flink; no Spark is needed.

The lists of `functions_known` have the known differences.
"""

from __future__ import annotations

import pytest
from tests.compat.functions.functions_answers import Answer, binder, expression, recorded, same_type
from tests.compat.functions.functions_known import DIFFERENT, LENIENT, NOT_YET, REFUSED

from streamtable.core.errors import Condition, StreamtableError

ANSWERS = [answer for answer in recorded() if answer.id not in DIFFERENT]


@pytest.mark.parametrize("answer", ANSWERS, ids=[answer.id for answer in ANSWERS])
def test_type(answer: Answer) -> None:
    try:
        bound = binder().bind(expression(answer.sql))
    except StreamtableError as error:
        assert error.at is not None
        assert answer.kind != "value" or answer.id in NOT_YET | REFUSED, error
        return
    assert answer.id not in NOT_YET | REFUSED, "the gap is closed, its mark must go"
    if answer.kind == "error":
        assert answer.id in LENIENT, bound
        return
    assert bound.type.sql() == same_type(answer.type)


def test_missing_features_are_refused_as_not_yet() -> None:
    """A missing feature is refused as `NOT_YET`, never as a mistake of the user."""
    for answer in ANSWERS:
        if answer.id in NOT_YET:
            with pytest.raises(StreamtableError) as refused:
                binder().bind(expression(answer.sql))
            assert refused.value.condition is Condition.NOT_YET, refused.value
