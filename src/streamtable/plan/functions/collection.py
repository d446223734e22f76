"""Collection functions. Array positions start at 1. A NULL is searched like any other value."""

from __future__ import annotations

from collections.abc import Callable

from streamtable.core.types import (
    BOOLEAN,
    CHARACTER,
    INT,
    STRING,
    DataType,
    Field,
    Root,
    array,
    map_of,
    row,
)
from streamtable.plan.binding.bound import Bound, failing, text_literal
from streamtable.plan.binding.casts import implicit_cast
from streamtable.plan.functions.kinds import ANY, ARRAY, MAP, ORDERED_ARRAY, TEXT, TRUTH, WHOLE
from streamtable.plan.functions.model import (
    Arguments,
    Category,
    Function,
    Kind,
    Nulls,
    Overload,
    one,
)

_COLLECTION = Category.COLLECTION
_TEXTS = Kind(
    "an ARRAY of strings",
    lambda a: a if a.type.root is Root.ARRAY and _element(a).root in CHARACTER else None,
)


def _element(argument: Bound) -> DataType:
    assert argument.type.element is not None, argument  # noqa: S101
    return argument.type.element


def _key(argument: Bound) -> DataType:
    assert argument.type.key is not None, argument  # noqa: S101
    return argument.type.key


def _alike(arguments: Arguments) -> DataType:
    return arguments[0].type


def _widened(arguments: Arguments) -> DataType:
    """Return the array's type; elements are nullable if the new element is."""
    kind = _element(arguments[0])
    nullable = kind.nullable or arguments[1].type.nullable
    return array(kind.with_nullable(nullable)).with_nullable(arguments[0].type.nullable)


def _item(arguments: Arguments) -> DataType:
    return _element(arguments[0]).with_nullable(True)


def _single(arguments: Arguments) -> str:
    items = arguments[0].sql
    failure = failing(text_literal("ELEMENT of an array with several"), _element(arguments[0]))
    return f"if(array_size({items}) > 1, {failure}, get({items}, 0))"


def _contains(arguments: Arguments) -> str:
    items, wanted = arguments
    found = f"coalesce(array_contains({items.sql}, {wanted.sql}), false)"
    if wanted.type.nullable:
        missing = f"exists({items.sql}, e -> e IS NULL)"
        found = f"if({wanted.sql} IS NULL, {missing}, {found})"
    return f"if({items.sql} IS NULL, NULL, {found})" if items.type.nullable else found


def _removed(arguments: Arguments) -> str:
    items, wanted = arguments
    rest = f"array_remove({items.sql}, {wanted.sql})"
    if not wanted.type.nullable:
        return rest
    return f"if({wanted.sql} IS NULL, filter({items.sql}, e -> e IS NOT NULL), {rest})"


def _sliced(arguments: Arguments) -> str:
    """Return a slice with both ends included; negative positions count from the end; 0 means 1."""
    items, start, *end = arguments
    size = f"array_size({items.sql})"
    first = f"greatest(if({start.sql} < 0, {size} + {start.sql} + 1, {start.sql}), 1)"
    last = size
    if end:
        given = end[0].sql
        from_end = f"if({given} < 0, {size} + {given} + 1, if({given} = 0, 1, {given}))"
        last = f"least({from_end}, {size})"
    sliced = f"slice({items.sql}, {first}, greatest({last} - {first} + 1, 0))"
    missing = [f"{a.sql} IS NULL" for a in (start, *end) if a.type.nullable]
    return f"if({' OR '.join(missing)}, NULL, {sliced})" if missing else sliced


def _sorted(arguments: Arguments) -> str:
    items, *order = arguments
    if all(a.constant is not None for a in order):
        ascending = bool(order[0].constant) if order else True
        return _in_order(items, ascending, bool(order[1].constant) if order[1:] else ascending)
    first = order[-1].sql
    up, down = (
        f"if({first}, {_in_order(items, way, True)}, {_in_order(items, way, False)})"
        for way in (True, False)
    )
    missing = " OR ".join(f"{a.sql} IS NULL" for a in order)
    return f"if({missing}, NULL, if({order[0].sql}, {up}, {down}))"


def _in_order(items: Bound, ascending: bool, nulls_first: bool) -> str:
    if ascending == nulls_first:
        return f"sort_array({items.sql}, {str(ascending).lower()})"
    if ascending:
        return f"array_sort({items.sql})"
    missing = f"filter({items.sql}, e -> e IS NULL)"
    rest = f"sort_array(filter({items.sql}, e -> e IS NOT NULL), false)"
    return f"concat({missing}, {rest})"


def _entries(arguments: Arguments) -> DataType:
    kind = arguments[0]
    return array(row(Field("key", _key(kind)), Field("value", _element(kind))))


def _joined(name: str) -> Callable[[Arguments], str]:
    def sql(arguments: Arguments) -> str:
        return f"{name}({', '.join(a.sql for a in arguments)})"

    return sql


def _with_element(
    name: str,
    gives: Callable[[Arguments], DataType] | DataType,
    sql: str | Callable[[Arguments], str],
    doc: str,
    nulls: Nulls,
) -> Function:
    """Define a function of an array and a value of the element type."""
    return Function(
        name, _COLLECTION, (Overload((ARRAY, ANY), gives, sql, fits=_fits, nulls=nulls),), doc
    )


def _fits(arguments: Arguments) -> Arguments | None:
    items, value = arguments
    fitting = implicit_cast(value, _element(items))
    if fitting is None and {value.type.root, _element(items).root} <= CHARACTER:
        fitting = value
    return None if fitting is None else (items, fitting)


def _if_array(arguments: Arguments) -> DataType:
    return BOOLEAN.with_nullable(arguments[0].type.nullable)


def _set(name: str, doc: str) -> Function:
    overload = Overload((ARRAY, ARRAY), _alike, _joined(name.lower()), common_from=0, merging=True)
    return Function(name, _COLLECTION, (overload,), doc)


COLLECTIONS = (
    Function(
        "CARDINALITY",
        _COLLECTION,
        (
            Overload((ARRAY,), INT, "array_size({0})"),
            Overload((MAP,), INT, "array_size(map_keys({0}))"),
        ),
        "How many elements there are.",
    ),
    one(
        "ELEMENT",
        _COLLECTION,
        (ARRAY,),
        lambda a: _element(a[0]),
        _single,
        "The only element; fails where there are several.",
    ),
    _with_element(
        "ARRAY_APPEND", _widened, "array_append({0}, {1})", "One more at the end.", Nulls.AS_RESULT
    ),
    _with_element(
        "ARRAY_PREPEND", _widened, "array_prepend({0}, {1})", "One more in front.", Nulls.AS_RESULT
    ),
    Function(
        "ARRAY_CONCAT",
        _COLLECTION,
        (Overload((ARRAY,), _alike, _joined("concat"), repeats=True, common_from=0, merging=True),),
        "The arrays one after the other.",
    ),
    _with_element("ARRAY_CONTAINS", _if_array, _contains, "Whether it is there.", Nulls.AS_RESULT),
    one(
        "ARRAY_DISTINCT",
        _COLLECTION,
        (ARRAY,),
        _alike,
        "array_distinct({0})",
        "Without repetitions.",
    ),
    _set("ARRAY_EXCEPT", "What is in the first and not in the second, without repetitions."),
    _set("ARRAY_INTERSECT", "What is in both, without repetitions."),
    _set("ARRAY_UNION", "What is in either, without repetitions."),
    one(
        "ARRAY_JOIN",
        _COLLECTION,
        (_TEXTS, TEXT, TEXT),
        STRING,
        _joined("array_join"),
        "The texts joined; NULLs left out, or replaced by the third argument.",
        optional=1,
    ),
    one(
        "ARRAY_MAX",
        _COLLECTION,
        (ORDERED_ARRAY,),
        _item,
        "array_max({0})",
        "The greatest element.",
        nulls=Nulls.ALWAYS,
    ),
    one(
        "ARRAY_MIN",
        _COLLECTION,
        (ORDERED_ARRAY,),
        _item,
        "array_min({0})",
        "The least element.",
        nulls=Nulls.ALWAYS,
    ),
    _with_element(
        "ARRAY_POSITION",
        INT,
        "CAST(array_position({0}, {1}) AS INT)",
        "Where it is, from 1; 0 if nowhere.",
        Nulls.IF_ARGUMENTS,
    ),
    _with_element(
        "ARRAY_REMOVE", _alike, _removed, "Without the elements equal to it.", Nulls.AS_RESULT
    ),
    one("ARRAY_REVERSE", _COLLECTION, (ARRAY,), _alike, "reverse({0})", "Backwards."),
    one(
        "ARRAY_SLICE",
        _COLLECTION,
        (ARRAY, WHOLE, WHOLE),
        _alike,
        _sliced,
        "From one position to another, both included.",
        optional=1,
    ),
    one(
        "ARRAY_SORT",
        _COLLECTION,
        (ORDERED_ARRAY, TRUTH, TRUTH),
        _alike,
        _sorted,
        "In order; the arguments say ascending, and NULLs first.",
        optional=2,
    ),
    one(
        "MAP_ENTRIES", _COLLECTION, (MAP,), _entries, "map_entries({0})", "Keys and values as rows."
    ),
    one("MAP_KEYS", _COLLECTION, (MAP,), lambda a: array(_key(a[0])), "map_keys({0})", "The keys."),
    one(
        "MAP_VALUES",
        _COLLECTION,
        (MAP,),
        lambda a: array(_element(a[0])),
        "map_values({0})",
        "The values.",
    ),
    Function(
        "MAP_UNION",
        _COLLECTION,
        (
            Overload(
                (MAP,), _alike, _joined("map_concat"), repeats=True, common_from=0, merging=True
            ),
        ),
        "All entries; of equal keys the last.",
    ),
    one(
        "MAP_FROM_ARRAYS",
        _COLLECTION,
        (ARRAY, ARRAY),
        lambda a: map_of(_element(a[0]), _element(a[1])),
        "map_from_arrays({0}, {1})",
        "A map of keys and values.",
    ),
)
