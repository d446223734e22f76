"""Plan UNNEST in FROM: an `Expand` over the rows before it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import INT, DataType, Field, Root, quote
from streamtable.plan.binding.expressions import Binder, Bound, Input, InputField
from streamtable.plan.query.conditions import all_of, bind_part
from streamtable.plan.query.relation import Relation, unique_names, with_values
from streamtable.plan.rows.expand import Expand
from streamtable.sql.place import place_of

_SCALAR = "EXPR$0"
_COLLECTIONS = (Root.ARRAY, Root.MAP, Root.MULTISET)
#: Names of Spark lambda variables; user columns do not have such names.
_ITEM, _INDEX = "__item", "__index"


def plan_unnest(
    node: exp.Unnest, left: Relation, *, outer: bool, on: Sequence[exp.Expr] = ()
) -> Relation:
    """Join each row with the elements of its array, map or multiset.

    A ROW element has one column per field. A map element has a column for the key and one for the
    value. WITH ORDINALITY adds the position of the element, from 1.

    Args:
        node: the UNNEST with its alias.
        left: the rows; expressions may refer to their columns.
        outer: whether rows without elements are also emitted.
        on: conditions; elements for which a condition is not true are ignored.

    Raises:
        StreamtableError: ARGUMENT_MISMATCH for a value without elements, COLUMN_COUNT_MISMATCH for
            an alias with too few or too many columns.
    """
    (argument,) = node.expressions
    value = Binder(Input(left.columns)).bind(argument)
    if value.type.root not in _COLLECTIONS:
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=place_of(argument),
            function="UNNEST",
            expected="an ARRAY, MAP or MULTISET",
            found=value.type,
        )
    return expand_elements(node, value, left, outer=outer, on=on)


def expand_elements(
    node: exp.Expr,
    value: Bound,
    left: Relation,
    *,
    outer: bool,
    on: Sequence[exp.Expr] = (),
    what: str = "Unnest",
) -> Relation:
    """Join each row with the elements of a collection, as `plan_unnest` describes.

    Args:
        node: the item of FROM with its alias.
        value: the collection, over the columns of `left`.
        left: the rows.
        outer: whether rows without elements are also emitted.
        on: conditions; elements for which a condition is not true are ignored.
        what: the name of the operator in EXPLAIN.
    """
    left, (source,) = with_values(left, [value], "unnested")
    place = node.args.get("offset") is not None
    parts = [*_parts(value.type), *([("ORDINALITY", _INDEX_SQL, _PLACE)] if place else [])]
    columns = _column_names(node, [name for name, _, _ in parts])
    names = unique_names([*(f.name for f in left.node.fields), *columns])[-len(columns) :]
    kinds = [kind for _, _, kind in parts]
    items = ", ".join(f"'p{i}', {sql}" for i, (_, sql, _) in enumerate(parts))
    array = f"transform({_elements(source, value)}, ({_ITEM}, {_INDEX}) -> named_struct({items}))"
    condition = _condition(on, left, [(node.alias or None, c) for c in columns], kinds)
    if condition is not None:
        array = f"filter({array}, {_ITEM} -> {_of_item(condition.sql)})"
    made = tuple(
        Field(name, kind.with_nullable(kind.nullable or outer))
        for name, kind in zip(names, kinds, strict=True)
    )
    expanded = Expand(
        left.node,
        array,
        frozenset({source}) | _own_fields(condition, left),
        made,
        outer,
        names[-1] if place else None,
        what,
    )
    found = (InputField(node.alias or None, c, f) for c, f in zip(columns, made, strict=True))
    return Relation(expanded, (*left.columns, *found))


def _condition(
    on: Sequence[exp.Expr],
    left: Relation,
    columns: Sequence[tuple[str | None, str]],
    kinds: Sequence[DataType],
) -> Bound | None:
    """Bind ON over the left row and the parts of one element."""
    parts = (
        InputField(qualifier, name, Field(f"{_ITEM}.p{i}", kind))
        for i, ((qualifier, name), kind) in enumerate(zip(columns, kinds, strict=True))
    )
    binder = Binder(Input((*left.columns, *parts)))
    return all_of([bind_part(part, binder, "ON") for part in on])


def _of_item(sql: str) -> str:
    """Rewrite Spark SQL so that parts of an element are fields of the lambda variable."""
    return re.sub(f"`{_ITEM}\\.(p[0-9]+)`", f"{_ITEM}.\\1", sql)


def _own_fields(condition: Bound | None, left: Relation) -> frozenset[str]:
    known = frozenset(f.name for f in left.node.fields)
    return known & condition.fields if condition is not None else frozenset()


_INDEX_SQL = f"{_INDEX} + 1"
_PLACE = INT.with_nullable(False)


def _elements(source: str, value: Bound) -> str:
    """Return Spark SQL of an array with all elements; a multiset repeats them by their counts."""
    name = quote(source)
    if value.type.root is Root.ARRAY:
        return name
    if value.type.root is Root.MAP:
        return f"map_entries({name})"
    return f"flatten(transform(map_entries({name}), __e -> array_repeat(__e.key, __e.value)))"


def _parts(kind: DataType) -> list[tuple[str, str, DataType]]:
    """Return name, Spark SQL and type of each column of an element."""
    element = kind.element
    assert element is not None, "a collection has elements"  # noqa: S101
    if kind.root is Root.MAP and kind.key is not None:
        return [("KEY", f"{_ITEM}.key", kind.key), ("VALUE", f"{_ITEM}.value", element)]
    if element.root is not Root.ROW:
        return [(_SCALAR, _ITEM, element)]
    return [
        (
            f.name,
            f"{_ITEM}.{quote(f.name)}",
            f.type.with_nullable(f.type.nullable or element.nullable),
        )
        for f in element.fields
    ]


def _column_names(node: exp.Expr, own: list[str]) -> list[str]:
    alias = node.args.get("alias")
    given = [c.name for c in alias.columns] if alias is not None else []
    if alias is not None and not given and own[0] == _SCALAR:
        # As in Calcite: the alias is also the column name for elements without parts.
        return [node.alias, *own[1:]]
    if given and len(given) != len(own):
        raise StreamtableError(
            Condition.COLUMN_COUNT_MISMATCH,
            at=place_of(node),
            table=node.alias,
            expected=len(given),
            columns="",
            found=len(own),
        )
    return given or own
