"""String functions. Positions count characters (code points) from 1, as in Spark and Flink."""

from __future__ import annotations

from streamtable.core.types import BOOLEAN, INT, STRING, DataType
from streamtable.plan.functions.kinds import BINARY, TEXT, WHOLE
from streamtable.plan.functions.model import (
    Arguments,
    Category,
    Function,
    Nulls,
    Overload,
    keyword,
    one,
)
from streamtable.plan.functions.text.string_sql import (
    alike,
    capitalized,
    first_varying,
    joined_type,
    located_from,
    misfit,
    overlay,
    overlay_type,
    pad_fits,
    replace,
    substring,
    translated,
    trim_keyword,
    trimmed,
    varying,
)

_STRING = Category.STRING


def _padded(function: str) -> Function:
    def sql(arguments: Arguments) -> str:
        text, length, pad = arguments
        call = f"{function}({text.sql}, {length.sql}, {pad.sql})"
        return call if pad_fits(arguments) else f"if({misfit(length, pad)}, NULL, {call})"

    def gives(arguments: Arguments) -> DataType:
        nullable = any(a.type.nullable for a in arguments) or not pad_fits(arguments)
        return STRING.with_nullable(nullable)

    overload = Overload((TEXT, WHOLE, TEXT), gives, sql, nulls=Nulls.AS_RESULT)
    doc = "The text cut or padded to a length; NULL for a negative length or an empty pad."
    return Function(function.upper(), _STRING, (overload,), doc)


STRINGS = (
    one("||", _STRING, (TEXT, TEXT), joined_type, "({0} || {1})", "Both texts, joined."),
    one("CHAR_LENGTH", _STRING, (TEXT,), INT, "char_length({0})", "The number of characters."),
    one("CHARACTER_LENGTH", _STRING, (TEXT,), INT, "char_length({0})", "Same as CHAR_LENGTH."),
    one("UPPER", _STRING, (TEXT,), alike, "upper({0})", "The text in upper case."),
    one("INITCAP", _STRING, (TEXT,), alike, capitalized, "Words with a capital letter."),
    one("LOWER", _STRING, (TEXT,), alike, "lower({0})", "The text in lower case."),
    one(
        "POSITION",
        _STRING,
        (TEXT, TEXT),
        INT,
        "instr({1}, {0})",
        "Where the first text stands in the second, from 1; 0 if nowhere.",
    ),
    Function(
        "TRIM",
        _STRING,
        (
            Overload((TEXT,), first_varying, "trim({0})"),
            Overload(
                (keyword("BOTH", "LEADING", "TRAILING"), TEXT, TEXT),
                lambda a: varying(a[2]),
                trim_keyword,
            ),
        ),
        "The text without the given characters at its ends.",
    ),
    Function(
        "LTRIM",
        _STRING,
        (
            Overload((TEXT,), first_varying, "ltrim({0})"),
            Overload((TEXT, TEXT), first_varying, trimmed("LEADING")),
        ),
        "The text without spaces, or given characters, at its start.",
    ),
    Function(
        "RTRIM",
        _STRING,
        (
            Overload((TEXT,), first_varying, "rtrim({0})"),
            Overload((TEXT, TEXT), first_varying, trimmed("TRAILING")),
        ),
        "The text without spaces, or given characters, at its end.",
    ),
    Function(
        "BTRIM",
        _STRING,
        (
            Overload((TEXT,), STRING, "trim({0})"),
            Overload((TEXT, TEXT), STRING, trimmed("BOTH")),
        ),
        "The text without spaces, or given characters, at both ends.",
    ),
    one("REPEAT", _STRING, (TEXT, WHOLE), STRING, "repeat({0}, {1})", "The text so many times."),
    one(
        "OVERLAY",
        _STRING,
        (TEXT, TEXT, WHOLE, WHOLE),
        overlay_type,
        overlay,
        "The text with a part replaced.",
        optional=1,
    ),
    one(
        "SUBSTRING",
        _STRING,
        (TEXT, WHOLE, WHOLE),
        first_varying,
        substring,
        "A part of the text.",
        optional=1,
        nulls=Nulls.ALWAYS,
    ),
    one(
        "SUBSTR",
        _STRING,
        (TEXT, WHOLE, WHOLE),
        first_varying,
        substring,
        "Same as SUBSTRING.",
        optional=1,
        nulls=Nulls.ALWAYS,
    ),
    one(
        "REPLACE",
        _STRING,
        (TEXT, TEXT, TEXT),
        STRING,
        replace,
        "The text with every occurrence of the second argument replaced by the third.",
    ),
    one(
        "TRANSLATE",
        _STRING,
        (TEXT, TEXT, TEXT),
        STRING,
        translated,
        "The text with single characters replaced.",
    ),
    Function(
        "CONCAT",
        _STRING,
        (
            Overload(
                (TEXT,), STRING, lambda a: f"concat({', '.join(x.sql for x in a)})", repeats=True
            ),
        ),
        "The texts joined; NULL where any is.",
    ),
    Function(
        "CONCAT_WS",
        _STRING,
        (
            Overload((TEXT,), STRING, "if({0} IS NULL, NULL, '')"),
            Overload(
                (TEXT, TEXT),
                STRING,
                lambda a: f"concat_ws({', '.join(x.sql for x in a)})",
                repeats=True,
            ),
        ),
        "The texts joined by the first argument, NULLs left out.",
    ),
    _padded("lpad"),
    _padded("rpad"),
    Function(
        "INSTR",
        _STRING,
        (
            Overload((TEXT, TEXT), INT, "instr({0}, {1})"),
            Overload((TEXT, TEXT, WHOLE), INT, "flink_instr({0}, {1}, {2}, 1)"),
            Overload((TEXT, TEXT, WHOLE, WHOLE), INT, "flink_instr({0}, {1}, {2}, {3})"),
        ),
        "Where the second text stands in the first, from 1; 0 if nowhere.",
    ),
    Function(
        "LOCATE",
        _STRING,
        (
            Overload((TEXT, TEXT), INT, "locate({0}, {1})"),
            Overload((TEXT, TEXT, WHOLE), INT, located_from),
        ),
        "Where the first text stands in the second, from 1; 0 if nowhere.",
    ),
    one(
        "LEFT",
        _STRING,
        (TEXT, WHOLE),
        first_varying,
        "left({0}, {1})",
        "So many first characters.",
        nulls=Nulls.ALWAYS,
    ),
    one(
        "RIGHT",
        _STRING,
        (TEXT, WHOLE),
        first_varying,
        "right({0}, {1})",
        "So many last characters.",
        nulls=Nulls.ALWAYS,
    ),
    one(
        "REVERSE",
        _STRING,
        (TEXT,),
        STRING,
        "reverse({0})",
        "The text backwards.",
        nulls=Nulls.ALWAYS,
    ),
    Function(
        "STARTSWITH",
        _STRING,
        (
            Overload((TEXT, TEXT), BOOLEAN, "startswith({0}, {1})"),
            Overload((BINARY, BINARY), BOOLEAN, "startswith({0}, {1})"),
        ),
        "Whether the text, or bytes, begins with the second.",
    ),
    Function(
        "ENDSWITH",
        _STRING,
        (
            Overload((TEXT, TEXT), BOOLEAN, "endswith({0}, {1})"),
            Overload((BINARY, BINARY), BOOLEAN, "endswith({0}, {1})"),
        ),
        "Whether the text, or bytes, ends with the second.",
    ),
)
