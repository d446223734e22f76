"""String functions that take texts apart or change how they are written."""

from __future__ import annotations

from streamtable.core.types import BYTES, INT, STRING, DataType, Root, array
from streamtable.plan.binding.bound import Bound, failing, text_literal
from streamtable.plan.functions.kinds import ANY, BINARY, LONG, TEXT, WHOLE, constant_text
from streamtable.plan.functions.model import (
    Arguments,
    Category,
    Function,
    Kind,
    Nulls,
    Overload,
    constant,
    lacking,
    one,
)

_STRING = Category.STRING
#: SPLIT_INDEX takes its delimiter as text or as the code of a character.
_DELIMITERS = (Root.CHAR, Root.VARCHAR, Root.INT)


def _delimiter(argument: Bound) -> Bound | None:
    return argument if argument.constant and argument.type.root in _DELIMITERS else None


def _split_index(arguments: Arguments) -> str:
    text, delimiter, index = arguments
    code = delimiter.constant
    cut = chr(code) if isinstance(code, int) else constant_text(delimiter)
    pieces = f"split({text.sql}, {text_literal(quoted_pattern(cut))})"
    return f"if({text.sql} = '', NULL, get({pieces}, {index.sql}))"


def _split(arguments: Arguments) -> str:
    text, delimiter = arguments
    pattern = constant_text(delimiter)
    pieces = f"split({text.sql}, {text_literal(quoted_pattern(pattern) if pattern else '')})"
    return f"if({text.sql} = '', array(), {pieces})"


def quoted_pattern(text: str) -> str:
    """A Java regular expression that matches a text literally."""
    return "\\Q" + text.replace("\\E", "\\E\\\\E\\Q") + "\\E"


def _from_base64(arguments: Arguments) -> str:
    """Java's decoder: padding may be missing, all else must be right."""
    text = arguments[0].sql
    broken = failing(f"concat('not base64: ', {text})", STRING)
    decoded = f"make_valid_utf8(CAST(unbase64({text}) AS STRING))"
    return f"if({text} RLIKE '{_BASE64}', {decoded}, if({text} IS NULL, NULL, {broken}))"


def _chosen_type(arguments: Arguments) -> DataType:
    return arguments[1].type


_CUT = Kind("a delimiter (a literal, not empty)", _delimiter)
_BASE64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{3}=?)?$"
_FIRST_BYTE = "CAST(CAST(CAST(conv(left(hex({0}), 2), 16, 10) AS INT) AS TINYINT) AS INT)"
_UTF8 = Kind("'UTF-8'", lambda a: a if str(a.constant).upper() == "UTF-8" else None)

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
        (BINARY, _UTF8),
        STRING,
        "make_valid_utf8(CAST({0} AS STRING))",
        "The text that bytes hold.",
        more=(lacking("DECODE from another charset", BINARY, TEXT),),
    ),
    one(
        "ENCODE",
        _STRING,
        (TEXT, _UTF8),
        BYTES,
        "CAST({0} AS BINARY)",
        "The text's bytes.",
        more=(lacking("ENCODE to another charset", TEXT, TEXT),),
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
        (TEXT, constant(TEXT)),
        array(STRING),
        _split,
        "The pieces between delimiters.",
        more=(lacking("SPLIT at a delimiter that is no literal", TEXT, TEXT),),
    ),
    one(
        "SPLIT_INDEX",
        _STRING,
        (TEXT, _CUT, WHOLE),
        STRING,
        _split_index,
        "The piece of a number, from 0; NULL where there is none.",
        nulls=Nulls.ALWAYS,
        more=(lacking("SPLIT_INDEX at this delimiter", TEXT, ANY, WHOLE),),
    ),
)
