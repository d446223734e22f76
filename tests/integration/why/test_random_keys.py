"""Key columns of random queries are followed down to the scans, and no row is lost."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import DataFrame
from tests.integration.batch.support import Answers

from streamtable.batch.answer import answer
from streamtable.batch.carried import Lineage
from streamtable.batch.context import BatchContext
from streamtable.batch.refusals import refusal
from streamtable.core.types import APPROXIMATE, Field, quote
from streamtable.plan.source.scan import scans
from streamtable.runtime.why.key import KeyColumn, literal
from streamtable.runtime.why.trace import Pin, below, condition_of, deciding, pinned_scans, pins_of
from streamtable.testing.answers import INTERPRETED, PLANNED_ONCE, as_json, set_for_a_while
from streamtable.testing.differential import case_of, universe
from streamtable.testing.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

    from streamtable.plan.node import Node
    from streamtable.plan.source.scan import Scan

_CARRIED = Lineage()


def _context(answers: Answers, pins: Sequence[tuple[Scan, tuple[Pin, ...]]] = ()) -> BatchContext:
    """Return a context whose scans are filtered by their `deciding` pins."""
    plain = answers.context()
    wanted = {id(scan): condition_of(deciding(scan, found)) for scan, found in pins}

    def changes_of(scan: Scan) -> DataFrame:
        changes, condition = plain.changes_of(scan), wanted.get(id(scan))
        return changes if condition is None else changes.where(condition)

    return BatchContext(plain.lowering, changes_of, _CARRIED)


def _values(answers: Answers, nodes: Sequence[tuple[Node, Field]]) -> dict[int, str]:
    """Return a value of a field of each node as text, by the number of the node."""
    frames = [
        answer(node, _context(answers))
        .where(f"{quote(field.name)} IS NOT NULL")
        .selectExpr(f"{i} AS i", f"CAST({quote(field.name)} AS STRING) AS value")
        .groupBy("i")
        .agg({"value": "max"})
        for i, (node, field) in enumerate(nodes)
    ]
    return dict(map(tuple, reduce(DataFrame.union, frames).collect()))


def _steps(node: Node, pins: Sequence[Pin]) -> Iterator[list[tuple[Node, tuple[Pin, ...]]]]:
    """Yield each operator with its pins, followed by its inputs with their pins."""
    inputs = [
        (child, found.pins) for child, found in zip(node.inputs, below(node, pins), strict=True)
    ]
    if inputs:
        yield [(node, tuple(pins)), *inputs]
    for child, found in inputs:
        yield from _steps(child, found)


@pytest.mark.parametrize(
    ("seed", "queries"),
    [(1, 5), *(pytest.param(seed, 12, marks=pytest.mark.soak) for seed in range(1, 20))],
)
def test_pinned_scans_give_the_same_rows(seed: int, queries: int, spark: SparkSession) -> None:
    """Filtered scans give the same rows with the same records; each row comes from pinned rows."""
    given = universe(seed, queries=queries, timed=False)
    replay = Replay(spark, given.tables, {**given.settings, "table.exec.state.ttl": "0 s"})
    plans = [replay.plan(case_of(given, i)).input for i in range(len(given.queries))]
    answers = Answers(spark, given.tables, given.settings)
    nodes = [
        (node, field)
        for node in plans
        if refusal(node) is None
        for field in node.fields[:2]
        if literal("", field.type) is not None and field.type.root not in APPROXIMATE
    ]
    narrowed = 0
    with set_for_a_while(spark, {**INTERPRETED, **PLANNED_ONCE}):
        rows: list[DataFrame] = []
        counts: list[DataFrame] = []
        steps: list[Node] = []
        for i, value in _values(answers, nodes).items():
            node, field = nodes[i]
            pins = pins_of([KeyColumn(field, literal(value, field.type) or "")])
            reached = list(pinned_scans(node, pins))
            once = [id(scan) for scan in scans(node)]
            usable = [(s, p) for s, p in reached if once.count(id(s)) == 1]
            narrowed += any(deciding(scan, found) for scan, found in usable)
            text = as_json([f.name for f in node.fields])
            for side, context in enumerate((_context(answers), _context(answers, usable))):
                found = answer(node, context).where(condition_of(pins) or "TRUE")
                records = f"to_json({_CARRIED.column}) AS records"
                rows.append(found.selectExpr(f"{i} AS i", f"{side} AS side", text, records))
            for step in _steps(node, pins):
                for place, (part, own) in enumerate(step):
                    kept = answer(part, _context(answers)).where(condition_of(own) or "TRUE")
                    number = f"{len(steps)} AS step"
                    counts.append(kept.limit(1).selectExpr(number, f"{place} AS place"))
                steps.append(step[0][0])
        compared: dict[int, tuple[list[str], list[str]]] = {}
        for i, side, *values in reduce(DataFrame.union, rows).collect():
            compared.setdefault(i, ([], []))[side].append(str(values))
        there = {tuple(row) for row in reduce(DataFrame.union, counts).collect()}
    assert compared
    assert narrowed
    for i, (plain, filtered) in compared.items():
        assert sorted(plain) == sorted(filtered), f"{nodes[i][0].headline}: {nodes[i][1].name}"
    for step_number, node in enumerate(steps):
        if (step_number, 0) in there:
            places = range(1, len(node.inputs) + 1)
            assert any((step_number, place) in there for place in places), node.headline
