"""SQL/JSON functions. Java code evaluates paths and clauses as Flink does.

A path has the syntax of Jayway's json-path library, after an optional `lax` or `strict` (the
default).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from streamtable.core.types import (
    BOOLEAN,
    BYTES_ROOTS,
    CHARACTER,
    NUMERIC,
    STRING,
    TIMESTAMPS,
    DataType,
    Root,
    array,
)
from streamtable.plan.binding.bound import Bound, symbol, text_literal
from streamtable.plan.binding.cast_text import fitted, to_text
from streamtable.plan.functions.kinds import TEXT
from streamtable.plan.functions.model import (
    Arguments,
    Category,
    Function,
    Kind,
    Nulls,
    Overload,
    constant,
    keyword,
    one,
)

_JSON = Category.JSON
_TEXTS = array(STRING)
_RETURNED: Mapping[Root, str] = {
    Root.VARCHAR: "STRING",
    Root.BOOLEAN: "BOOLEAN",
    Root.INT: "INT",
    Root.DOUBLE: "DOUBLE",
}
_SCALARS = frozenset({Root.BOOLEAN, Root.NULL, *CHARACTER, *NUMERIC, *TIMESTAMPS, *BYTES_ROOTS})
#: Clauses of each call, in the order in which they follow the arguments.
_CLAUSES: Mapping[str, tuple[str, ...]] = {
    "JSON_EXISTS": ("ON ERROR",),
    "JSON_VALUE": ("RETURNING", "ON EMPTY", "ON ERROR"),
    "JSON_QUERY": ("RETURNING", "WRAPPER", "ON EMPTY", "ON ERROR"),
    "JSON_OBJECT": ("ON NULL",),
    "JSON_ARRAY": ("ON NULL",),
}
_DEFAULTS: Mapping[tuple[str, str], str] = {
    ("JSON_EXISTS", "ON ERROR"): "FALSE",
    ("JSON_OBJECT", "ON NULL"): "NULL",
    ("JSON_ARRAY", "ON NULL"): "ABSENT",
    ("JSON_QUERY", "WRAPPER"): "WITHOUT",
}


def with_clauses(name: str, arguments: list[Bound], clauses: Mapping[str, Bound]) -> list[Bound]:
    """Return the arguments of a SQL/JSON call, followed by all its clauses, including defaults."""
    behind = []
    for clause in _CLAUSES.get(name, ()):
        unsaid = Bound("", STRING) if clause == "RETURNING" else None
        default = unsaid or symbol(_DEFAULTS.get((name, clause), "NULL"), None)
        behind.append(clauses.get(clause, default))
    return arguments + behind


def _instead(argument: Bound) -> Bound | None:
    """Return NULL, ERROR, or the value of DEFAULT."""
    return argument


_PATH = Kind("a JSON path", TEXT.take)
_TYPE = Kind("a type", lambda a: a)
_INSTEAD = Kind("NULL, ERROR or DEFAULT", _instead)
_WORD = Kind("a clause", lambda a: a)


def _word(argument: Bound) -> str:
    return text_literal(str(argument.constant))


def _exists(arguments: Arguments) -> str:
    text, path, on_error = arguments
    return f"flink_json_exists({text.sql}, {path.sql}, {_word(on_error)})"


def _returned(arguments: Arguments) -> DataType:
    return arguments[2].type


def _json_value(arguments: Arguments) -> str:
    text, path, returning, on_empty, on_error = arguments
    kind = _RETURNED[returning.type.root]
    empty, error = (_default(a) for a in (on_empty, on_error))
    call = f"flink_json_value({text.sql}, {path.sql}, '{kind}', {empty}, {error})"
    cast = f"CAST({call} AS {returning.type.spark_sql()})"
    if kind == "STRING":
        cast = fitted(call, STRING, returning.type)
    missing = [f"{a.sql} IS NULL" for a in (on_empty, on_error) if a.sql and a.type.nullable]
    return f"if({' OR '.join(missing)}, NULL, {cast})" if missing else cast


def _default(clause: Bound) -> str:
    """Return the keyword of ON EMPTY or ON ERROR, and the text of its DEFAULT."""
    if not clause.sql:
        return f"{_word(clause)}, CAST(NULL AS STRING)"
    return f"'DEFAULT', {to_text(clause.sql, clause.type)}"


def _value_fits(arguments: Arguments) -> Arguments | None:
    returned = arguments[2].type
    if returned.root not in _RETURNED:
        return None
    for clause in arguments[3:]:
        alike = clause.type.root is returned.root or returned.root is Root.VARCHAR
        if clause.sql and not (alike and clause.type.root in _SCALARS):
            return None
    return arguments


def _json_query(arguments: Arguments) -> str:
    text, path, returning, wrapper, on_empty, on_error = arguments
    name = "flink_json_query_array" if returning.type.root is Root.ARRAY else "flink_json_query"
    words = ", ".join(_word(a) for a in (wrapper, on_empty, on_error))
    return f"{name}({text.sql}, {path.sql}, {words})"


def _query_fits(arguments: Arguments) -> Arguments | None:
    returned = arguments[2].type
    if returned.same_shape(_TEXTS):
        instead = {a.constant for a in arguments[4:]}
        return None if "EMPTY OBJECT" in instead else arguments
    return arguments if returned.same_shape(STRING) else None


def _writable(kind: DataType) -> bool:
    if kind.root in (Root.ARRAY, Root.ROW):
        parts = [kind.element, *(field.type for field in kind.fields)]
        return all(_writable(part) for part in parts if part is not None)
    if kind.root is Root.MAP and kind.key is not None and kind.element is not None:
        return kind.key.root in CHARACTER and _writable(kind.element)
    return kind.root in _SCALARS


_WRITABLE = Kind(
    "a value that JSON supports",
    lambda a: a if _writable(a.type) and a.sql else None,
)


def _row_of(arguments: Arguments) -> str:
    fields = [f"'f{i}', {_typed(a)}" for i, a in enumerate(arguments)]
    return f"named_struct({', '.join(fields)})"


def _typed(argument: Bound) -> str:
    return "CAST(NULL AS STRING)" if argument.type.root is Root.NULL else argument.sql


def _built(function: str) -> Callable[[Arguments], str]:
    def sql(arguments: Arguments) -> str:
        *values, on_null = arguments
        raw = "".join("1" if value.json else "0" for value in values)
        absent = str(on_null.constant == "ABSENT").lower()
        return f"{function}({absent}, '{raw}', {_row_of(tuple(values))})"

    return sql


def _constructed(name: str, doc: str, *, pairs: bool) -> Function:
    kinds = Kind("values that JSON supports", lambda a: a)

    def fits(arguments: Arguments) -> Arguments | None:
        values = arguments[:-1]
        good = all(_WRITABLE.take(value) is not None for value in values)
        if pairs:
            good = good and all(k.type.root in CHARACTER for k in values[0::2])
            good = good and all(not k.type.nullable for k in values[0::2])
        return arguments if good else None

    sql = _built(f"flink_{name.lower()}")
    shown = "KEY a string NOT NULL VALUE a value" if pairs else "a value"
    overload = Overload(
        (kinds,),
        STRING,
        sql,
        repeats=True,
        nulls=Nulls.NEVER,
        fits=fits,
        json=True,
        shown=f"({shown} that JSON supports, ... [NULL or ABSENT ON NULL])",
    )
    return Function(name, _JSON, (overload,), doc)


JSON = (
    one(
        "IS_JSON",
        _JSON,
        (TEXT, keyword("VALUE", "SCALAR", "ARRAY", "OBJECT")),
        BOOLEAN,
        lambda a: f"coalesce(flink_is_json({a[0].sql}, {_word(a[1])}), false)",
        "Whether the text is JSON: `value IS JSON [VALUE | SCALAR | ARRAY | OBJECT]`.",
        nulls=Nulls.NEVER,
    ),
    Function(
        "JSON_EXISTS",
        _JSON,
        (
            Overload(
                (TEXT, constant(_PATH), _WORD),
                BOOLEAN,
                _exists,
                nulls=Nulls.ALWAYS,
                shown="(a string, a JSON path (a literal) [... ON ERROR])",
            ),
        ),
        "Whether there is a value at a path.",
    ),
    Function(
        "JSON_VALUE",
        _JSON,
        (
            Overload(
                (TEXT, _PATH, _TYPE, _INSTEAD, _INSTEAD),
                _returned,
                _json_value,
                nulls=Nulls.ALWAYS,
                fits=_value_fits,
                shown=(
                    "(a string, a JSON path [RETURNING STRING, BOOLEAN, INT or DOUBLE]"
                    " [NULL, ERROR or DEFAULT value of that type ON EMPTY] [... ON ERROR])"
                ),
            ),
        ),
        "The scalar at a path, as STRING, BOOLEAN, INT or DOUBLE.",
    ),
    Function(
        "JSON_QUERY",
        _JSON,
        (
            Overload(
                (TEXT, _PATH, _TYPE, _WORD, _WORD, _WORD),
                _returned,
                _json_query,
                nulls=Nulls.ALWAYS,
                fits=_query_fits,
                shown=(
                    "(a string, a JSON path [RETURNING STRING or ARRAY<STRING>] [... WRAPPER]"
                    " [NULL, ERROR, EMPTY ARRAY or EMPTY OBJECT ON EMPTY] [... ON ERROR])"
                ),
            ),
        ),
        "The array or object at a path, as JSON or as ARRAY<STRING>.",
    ),
    _constructed("JSON_OBJECT", "Keys and values as a JSON object.", pairs=True),
    _constructed("JSON_ARRAY", "The values as a JSON array.", pairs=False),
    one(
        "JSON_STRING",
        _JSON,
        (_WRITABLE,),
        STRING,
        lambda a: a[0].sql if a[0].json else f"flink_json_string({_row_of(a)})",
        "The value as JSON.",
    ),
    Function(
        "JSON",
        _JSON,
        (Overload((TEXT,), STRING, "flink_json_text({0})", nulls=Nulls.ALWAYS, json=True),),
        "JSON to stand inside JSON_OBJECT and JSON_ARRAY as it is.",
    ),
    one("JSON_QUOTE", _JSON, (TEXT,), STRING, "flink_json_quote({0})", "A text as a JSON string."),
    one(
        "JSON_UNQUOTE",
        _JSON,
        (TEXT,),
        STRING,
        "flink_json_unquote({0})",
        "What a JSON string says; a text that is no JSON stays as it is.",
    ),
)
