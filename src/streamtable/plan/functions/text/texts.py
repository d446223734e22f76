"""String functions implemented in Java: character classes, URLs, formats, maps."""

from __future__ import annotations

from streamtable.core.types import (
    BOOLEAN,
    CHARACTER,
    INT,
    INTEGERS,
    NUMERIC,
    STRING,
    TIMESTAMPS,
    Root,
    map_of,
)
from streamtable.plan.functions.kinds import TEXT
from streamtable.plan.functions.model import (
    Arguments,
    Builder,
    Category,
    Function,
    Nulls,
    Overload,
    of_roots,
    one,
)

_STRING = Category.STRING
_NO_VALUES = "'f0', 0"
_MAP = map_of(STRING, STRING)
_NO_DECIMAL = NUMERIC - {Root.DECIMAL}
#: Types that a format can print in the same way as Flink.
_PRINTED = of_roots(
    "a string, number, BOOLEAN, DATE or timestamp",
    {Root.NULL, Root.BOOLEAN, Root.DATE, *CHARACTER, *NUMERIC, *TIMESTAMPS},
    STRING,
)


def _consists(name: str, doc: str, *more: Overload) -> Function:
    first = Overload((TEXT,), BOOLEAN, f"flink_{name.lower()}({{0}})", nulls=Nulls.NEVER)
    return Function(name, _STRING, (first, *more), doc)


def _also(sql: Builder, *roots: object) -> Overload:
    kind = of_roots("a number", [r for r in NUMERIC if r in roots], INT)
    return Overload((kind,), BOOLEAN, sql, nulls=Nulls.NEVER)


def _printf(arguments: Arguments) -> str:
    form, *values = arguments
    fields = ", ".join(f"'f{i}', {value.sql}" for i, value in enumerate(values))
    # A struct needs a field. The format reads only the fields that it names.
    return f"flink_printf({form.sql}, named_struct({fields or _NO_VALUES}))"


TEXTS = (
    _consists("IS_ALPHA", "Whether there are letters only.", _also("false", *NUMERIC)),
    _consists(
        "IS_DECIMAL",
        "Whether it is a number.",
        _also("true", *_NO_DECIMAL),
        _also("false", Root.DECIMAL),
    ),
    _consists(
        "IS_DIGIT",
        "Whether there are digits only.",
        _also("true", *INTEGERS),
        _also("false", *NUMERIC),
    ),
    Function(
        "SIMILAR TO",
        Category.COMPARISON,
        (
            Overload((TEXT, TEXT), BOOLEAN, "flink_similar({0}, {1}, '')"),
            Overload((TEXT, TEXT, TEXT), BOOLEAN, "flink_similar({0}, {1}, {2})"),
        ),
        "Whether the whole text is like a pattern of SQL's with parts of regular expressions.",
    ),
    one(
        "PARSE_URL",
        _STRING,
        (TEXT, TEXT, TEXT),
        STRING,
        lambda a: f"flink_parse_url({', '.join(x.sql for x in a)})",
        "A part of a URL, or a parameter of its query; NULL where there is none.",
        optional=1,
        nulls=Nulls.ALWAYS,
    ),
    Function(
        "PRINTF",
        _STRING,
        (Overload((TEXT, _PRINTED), STRING, _printf, 1, repeats=True, nulls=Nulls.ALWAYS),),
        "The values in a format of Java's.",
    ),
    Function(
        "STR_TO_MAP",
        _STRING,
        (
            Overload((TEXT,), _MAP, "flink_str_to_map({0}, ',', '=')", nulls=Nulls.ALWAYS),
            Overload(
                (TEXT, TEXT, TEXT), _MAP, "flink_str_to_map({0}, {1}, {2})", nulls=Nulls.ALWAYS
            ),
        ),
        "Keys and values between delimiters that are regular expressions.",
    ),
    Function(
        "HASH_CODE",
        Category.HASH,
        (Overload((TEXT,), INT, "flink_hash_code_of({0})"),),
        "Java's hash of the text, without its sign.",
    ),
)
