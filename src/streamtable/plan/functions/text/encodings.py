"""String functions that split texts or change their encoding."""

from __future__ import annotations

from streamtable.core.types import BYTES, INT, STRING, DataType, array
from streamtable.plan.binding.bound import Bound, failing
from streamtable.plan.functions.kinds import BINARY, LONG, TEXT, WHOLE
from streamtable.plan.functions.model import (
    Arguments,
    Category,
    Function,
    Nulls,
    Overload,
    one,
)

_STRING = Category.STRING


def _from_base64(arguments: Arguments) -> str:
    """Decode like Java: padding may be missing, everything else must be valid."""
    text = arguments[0].sql
    broken = failing(f"concat('not base64: ', {text})", STRING)
    decoded = f"make_valid_utf8(CAST(unbase64({text}) AS STRING))"
    return f"if({text} RLIKE '{_BASE64}', {decoded}, if({text} IS NULL, NULL, {broken}))"


def _is_utf8(charset: Bound) -> bool:
    return str(charset.constant).upper() == "UTF-8"


def _decode(arguments: Arguments) -> str:
    held, charset = arguments
    if _is_utf8(charset):
        return f"make_valid_utf8(CAST({held.sql} AS STRING))"
    return f"flink_decode({held.sql}, {charset.sql})"


def _encode(arguments: Arguments) -> str:
    text, charset = arguments
    if _is_utf8(charset):
        return f"CAST({text.sql} AS BINARY)"
    return f"flink_encode({text.sql}, {charset.sql})"


def _chosen_type(arguments: Arguments) -> DataType:
    return arguments[1].type


_SPLIT_INDEX = "if({1} IS NULL OR {2} IS NULL, NULL, flink_split_index({0}, {1}, {2}))"
_BASE64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{3}=?)?$"
_FIRST_BYTE = "CAST(CAST(CAST(conv(left(hex({0}), 2), 16, 10) AS INT) AS TINYINT) AS INT)"

ENCODINGS = (
    one("FROM_BASE64", _STRING, (TEXT,), STRING, _from_base64, "The text that base64 encodes."),
    one(
        "TO_BASE64", _STRING, (TEXT,), STRING, "base64(CAST({0} AS BINARY))", "The text in base64."
    ),
    one(
        "ASCII",
        _STRING,
        (TEXT,),
        INT,
        f"if({{0}} = '', 0, {_FIRST_BYTE})",
        "The first byte, signed; 0 for an empty text.",
    ),
    one(
        "CHR",
        _STRING,
        (LONG,),
        STRING,
        "chr({0})",
        "The character of a code up to 255.",
        nulls=Nulls.ALWAYS,
    ),
    one(
        "URL_ENCODE",
        _STRING,
        (TEXT,),
        STRING,
        "url_encode({0})",
        "The text as application/x-www-form-urlencoded.",
        nulls=Nulls.ALWAYS,
    ),
    one(
        "URL_DECODE",
        _STRING,
        (TEXT,),
        STRING,
        "try_url_decode({0})",
        "What URL_ENCODE encoded; NULL where it is broken.",
        nulls=Nulls.ALWAYS,
    ),
    one(
        "DECODE",
        _STRING,
        (BINARY, TEXT),
        STRING,
        _decode,
        "The text that bytes hold in a charset.",
    ),
    one(
        "ENCODE",
        _STRING,
        (TEXT, TEXT),
        BYTES,
        _encode,
        "The text's bytes in a charset.",
    ),
    one(
        "UNHEX",
        _STRING,
        (TEXT,),
        BYTES,
        "unhex({0})",
        "The bytes that hexadecimal digits write; NULL where they are none.",
        nulls=Nulls.ALWAYS,
    ),
    Function(
        "ELT",
        _STRING,
        (
            Overload(
                (WHOLE, TEXT),
                _chosen_type,
                lambda a: f"elt({', '.join(x.sql for x in a)})",
                repeats=True,
                common_from=1,
                nulls=Nulls.ALWAYS,
            ),
        ),
        "The text of a number; NULL where there is none.",
    ),
    one(
        "SPLIT",
        _STRING,
        (TEXT, TEXT),
        array(STRING),
        "flink_split({0}, {1})",
        "The pieces between delimiters.",
    ),
    Function(
        "SPLIT_INDEX",
        _STRING,
        (
            Overload((TEXT, TEXT, WHOLE), STRING, _SPLIT_INDEX, nulls=Nulls.ALWAYS),
            Overload((TEXT, WHOLE, WHOLE), STRING, _SPLIT_INDEX, nulls=Nulls.ALWAYS),
        ),
        "The piece of a number, from 0; NULL where there is none.",
    ),
)
