"""Relations reuse the fields that they already have."""

from __future__ import annotations

from streamtable.plan.query.relation import bound_field, of_node, with_values
from streamtable.session import Session

_SCRIPT = """CREATE TABLE t (a INT, b INT) WITH ('connector' = 'datagen');
CREATE TABLE s (a INT, b INT) WITH ('connector' = 'print');
INSERT INTO s SELECT a, b FROM t;"""


def test_existing_fields_need_no_projection() -> None:
    session = Session()
    session.load(_SCRIPT, "job.sql")
    relation = of_node(session.plans[0].input)
    values = [bound_field(field) for field in relation.node.fields]
    found, names = with_values(relation, values, "key")
    assert found is relation
    assert names == ["a", "b"]
