"""Aggregate calls as Spark SQL, with Flink's results: wrapping sums, truncated averages."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.batch.comparable import comparable, holds_map
from streamtable.core.types import APPROXIMATE, INTEGERS, DataType, Root, quote
from streamtable.plan.aggregate.call import AggregateCall
from streamtable.plan.binding.bound import text_literal

_BITS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}
_SPREADS = {"VAR_POP", "VAR_SAMP", "VARIANCE", "STDDEV_POP", "STDDEV_SAMP", "STDDEV"}
#: Functions of Spark SQL that combine the values of BITMAP aggregates.
_BITMAPS = {"AND": "flink_bitmap_and", "OR": "flink_bitmap_or", "XOR": "flink_bitmap_xor"}
_PLAIN = {"COUNT", "SUM", "AVG", "MIN", "MAX", *_SPREADS}
#: Functions over the rows of a group in order.
_ORDERED = {"FIRST_VALUE", "LAST_VALUE", "LISTAGG", "ARRAY_AGG"}


def call_refusal(call: AggregateCall, types: Mapping[str, DataType], *, append: bool) -> str | None:
    """Return why Spark's batch cannot compute a call; None if it can.

    Args:
        call: the call.
        types: types of the input's fields.
        append: whether the input is append-only.
    """
    if call.python is not None:
        passes_map = call.argument is not None and holds_map(types[call.argument])
        return f"it passes a MAP to {call.python.function.name}" if passes_map else None
    if call.function in _ORDERED:
        if not append:
            return (
                f"the order of rows with changes, on which {call.function} depends, is not stored"
            )
        return f"{call.function}(DISTINCT)" if call.distinct else None
    if call.function.startswith("BITMAP_"):
        return None
    if call.function not in _PLAIN:
        return f"it computes {call.function}"
    argument = None if call.argument is None else types[call.argument]
    if call.function in _SPREADS and argument is not None and argument.root is Root.DECIMAL:
        return f"it computes {call.function} of DECIMAL"
    return None


def is_rounded(call: AggregateCall, types: Mapping[str, DataType]) -> bool:
    """Return whether the last digits of a result depend on the order of the rows."""
    if call.argument is None or call.function in ("COUNT", "MIN", "MAX"):
        return False
    return call.function in _PLAIN and types[call.argument].root in APPROXIMATE


def call_sql(call: AggregateCall, types: Mapping[str, DataType], order: str) -> str:
    """Return a call as an aggregate expression of Spark SQL.

    Args:
        call: a call without a refusal.
        types: types of the input's fields.
        order: Spark SQL of the order of a row, for calls that depend on it.
    """
    if call.python is not None:
        return _python(call, order)
    if call.argument is None:
        return f"count(*){_filter(call)}"
    kind = types[call.argument]
    value = quote(call.argument)
    if call.function in _ORDERED:
        return _ordered(call, value, kind, order)
    if call.function.startswith("BITMAP_"):
        return _bitmap(call, value)
    match call.function:
        case "COUNT":
            return _over(call, "count", comparable(value, kind))
        case "MIN" | "MAX":
            return f"{call.function.lower()}({value}){_filter(call)}"
        case "SUM":
            return _sum(call, value, kind)
        case "AVG":
            return _average(call, value, kind)
        case _:
            return _spread(call, value, kind)


def _python(call: AggregateCall, order: str) -> str:
    """Return a call of a Python function over the rows of its arguments, in order."""
    value = "true" if call.argument is None else quote(call.argument)
    rows = f"array_sort(collect_list(struct({order} AS o, {value} AS v)){_filter(call)})"
    values = f"transform({rows}, x -> x.v)"
    return f"{call.function}({f'array_distinct({values})' if call.distinct else values})"


def _filter(call: AggregateCall) -> str:
    return f" FILTER (WHERE {quote(call.filter)})" if call.filter else ""


def _over(call: AggregateCall, function: str, value: str) -> str:
    distinct = "DISTINCT " if call.distinct else ""
    return f"{function}({distinct}{value}){_filter(call)}"


def _bitmap(call: AggregateCall, value: str) -> str:
    operation = call.function.split("_")[1]
    if operation == "BUILD":
        values = f"collect_set(CAST({value} AS INT)){_filter(call)}"
        found = f"flink_bitmap_build(nullif({values}, array()))"
    else:
        values = f"{'collect_set' if call.distinct else 'collect_list'}({value}){_filter(call)}"
        both = f"if(a IS NULL, b, {_BITMAPS[operation]}(a, b))"
        found = f"reduce({values}, CAST(NULL AS BINARY), (a, b) -> {both})"
    return f"flink_bitmap_cardinality({found})" if "CARDINALITY" in call.function else found


def _sum(call: AggregateCall, value: str, kind: DataType) -> str:
    result = call.output.type.spark_sql()
    if kind.root in INTEGERS:
        return f"CAST({_wrapped(_whole(call, value, kind), kind.root)} AS {result})"
    wide = f"CAST({value} AS DOUBLE)" if kind.root in APPROXIMATE else f"CAST({value} AS {result})"
    return f"CAST({_over(call, 'sum', wide)} AS {result})"


def _average(call: AggregateCall, value: str, kind: DataType) -> str:
    result = call.output.type.spark_sql()
    count = f"nullif({_over(call, 'count', value)}, 0L)"
    if kind.root in INTEGERS:
        total = f"CAST({_wrapped(_whole(call, value, kind), Root.BIGINT)} AS BIGINT)"
        return f"CAST({total} div {count} AS {result})"
    if kind.root in APPROXIMATE:
        return f"CAST({_over(call, 'sum', f'CAST({value} AS DOUBLE)')} / {count} AS {result})"
    wide = f"DECIMAL(38, {kind.scale or 0})"
    return f"CAST({_over(call, 'sum', f'CAST({value} AS {wide})')} / {count} AS {result})"


def _spread(call: AggregateCall, value: str, kind: DataType) -> str:
    """Return a variance or deviation with Flink's formula, in the type of the values."""
    result = call.output.type.spark_sql()
    count = _over(call, "count", value)
    divisor = f"nullif({count if call.function.endswith('_POP') else f'({count} - 1L)'}, 0L)"
    root = call.function.startswith("STDDEV")
    if kind.root in APPROXIMATE:
        wide = f"CAST({value} AS DOUBLE)"
        total, squares = _over(call, "sum", wide), _over(call, "sum", f"{wide} * {wide}")
        variance = f"(({squares} - {total} * {total} / {count}) / {divisor})"
        return f"CAST({f'pow({variance}, 0.5D)' if root else variance} AS {result})"
    number = f"CAST({value} AS DECIMAL(19, 0))"
    total = _wrapped(_whole(call, value, kind), kind.root)
    exact = f"CAST({total} AS DECIMAL(19, 0))"
    square = f"CAST({_wrapped(f'({exact} * {exact})', kind.root)} AS BIGINT)"
    products = _over(call, "sum", f"{number} * {number}")
    squares = f"CAST({_wrapped(products, kind.root)} AS BIGINT)"
    variance = f"(({squares} - {square} div nullif({count}, 0L)) div {divisor})"
    if root:
        variance = f"CAST(pow(greatest({variance}, 0L), 0.5D) AS BIGINT)"
    return f"CAST({_wrapped(variance, kind.root)} AS {result})"


def _whole(call: AggregateCall, value: str, kind: DataType) -> str:
    """Return the exact sum of integers."""
    wide = "DECIMAL(19, 0)" if kind.root is Root.BIGINT else "BIGINT"
    return _over(call, "sum", f"CAST({value} AS {wide})")


def _wrapped(number: str, root: Root) -> str:
    """Return an integer wrapped to the range of its type, as two's complement does."""
    half = 1 << (_BITS[root] - 1)
    exact = f"CAST({number} AS DECIMAL(38, 0))"
    wrapped = f"(pmod({exact} + {half}BD, {2 * half}BD) - {half}BD)"
    return f"if({number} BETWEEN {-half}BD AND {half - 1}BD, {exact}, {wrapped})"


def _ordered(call: AggregateCall, value: str, kind: DataType, order: str) -> str:
    """Return an aggregate over the rows of a group in order."""
    condition = (
        f"{quote(call.filter)} AND {value} IS NOT NULL" if call.filter else (f"{value} IS NOT NULL")
    )
    where = f" FILTER (WHERE {condition})"
    if call.function == "FIRST_VALUE":
        return f"min_by({value}, {order}){where}"
    if call.function == "LAST_VALUE":
        return f"max_by({value}, {order}){where}"
    if call.function == "ARRAY_AGG" and call.output.type.element != kind and kind.fields:
        # A value that may be NULL is in a row of one field.
        value = f"{value}.{quote(kind.fields[0].name)}"
    pairs = f"array_sort(collect_list(struct({order} AS o, {value} AS v)){where})"
    items = f"nullif(transform({pairs}, x -> x.v), array())"
    if call.function == "ARRAY_AGG":
        return items
    return f"array_join({items}, {text_literal(call.parameters[0])})"
