"""Spark SQL and result types of string functions that differ from Spark's."""

from __future__ import annotations

from streamtable.core.types import MAX_LENGTH, DataType, Root, varchar
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.coercion import precision_of
from streamtable.plan.functions.model import Arguments
from streamtable.plan.functions.text.regexps import literal_replacement


def alike(arguments: Arguments) -> DataType:
    """Return the type of the first argument."""
    return arguments[0].type


def varying(argument: Bound) -> DataType:
    """Return VARCHAR with the argument's length."""
    return varchar(precision_of(argument.type))


def first_varying(arguments: Arguments) -> DataType:
    """Return VARCHAR with the first argument's length."""
    return varying(arguments[0])


def joined_type(arguments: Arguments) -> DataType:
    """Return the type of `||`: the lengths are added; two CHARs give a CHAR."""
    left, right = (a.type for a in arguments)
    length = min(precision_of(left) + precision_of(right), MAX_LENGTH)
    fixed = left.root is right.root is Root.CHAR
    return DataType(Root.CHAR if fixed else Root.VARCHAR, precision=length)


def substring(arguments: Arguments) -> str:
    """Return '' for a start before the text, as in Flink; Spark returns the overlapping part."""
    text, start, *length = arguments
    sql = f"substring({', '.join(a.sql for a in arguments)})"
    if not (isinstance(start.constant, int) and start.constant >= 0):
        sql = f"if({start.sql} < -char_length({text.sql}), '', {sql})"
    if length and not (isinstance(length[0].constant, int) and length[0].constant >= 0):
        sql = f"if({length[0].sql} < 0, NULL, {sql})"
    return sql


def trimmed(side: str) -> str:
    """Return a template of `xTRIM(text, characters)`."""
    return f"trim({side} {{1}} FROM {{0}})"


def trim_keyword(arguments: Arguments) -> str:
    """Return Spark SQL of `TRIM(side characters FROM text)`."""
    side, characters, text = arguments
    return f"trim({side.constant} {characters.sql} FROM {text.sql})"


def pad_fits(arguments: Arguments) -> bool:
    """Return whether constant arguments guarantee a valid pad for LPAD and RPAD."""
    _, length, pad = arguments
    return isinstance(length.constant, int) and length.constant >= 0 and bool(pad.constant)


def misfit(length: Bound, pad: Bound) -> str:
    """Return a condition that is true if LPAD and RPAD return NULL."""
    return f"{length.sql} < 0 OR {pad.sql} = ''"


def overlay(arguments: Arguments) -> str:
    """OVERLAY: a start outside the text changes nothing; a length below 1 drops the rest.

    Without a length, the length is that of the replacement.
    """
    text, new, start, *length = arguments
    call = f"overlay({', '.join(a.sql for a in arguments)})"
    if not length and new.constant == "":
        call = f"left({text.sql}, {start.sql} - 1)"
    elif length and not (isinstance(length[0].constant, int) and length[0].constant > 0):
        cut = f"concat(left({text.sql}, {start.sql} - 1), {new.sql})"
        call = f"if({length[0].sql} <= 0, {cut}, {call})"
    outside = f"{start.sql} <= 0 OR {start.sql} > char_length({text.sql})"
    return f"if({outside}, {text.sql}, {call})"


def overlay_type(arguments: Arguments) -> DataType:
    """Return VARCHAR with the sum of both lengths."""
    total = precision_of(arguments[0].type) + precision_of(arguments[1].type)
    return varchar(min(total, MAX_LENGTH))


def located_from(arguments: Arguments) -> str:
    """LOCATE from a start position: NULL for a NULL position, where Spark gives 0."""
    sought, text, start = (a.sql for a in arguments)
    call = f"locate({sought}, {text}, if({start} < 1, 1, {start}))"
    return f"if({start} IS NULL, NULL, {call})" if arguments[2].type.nullable else call


def replace(arguments: Arguments) -> str:
    """REPLACE: an empty search text matches between all characters, as in Java."""
    text, search, new = (a.sql for a in arguments)
    call = f"replace({text}, {search}, {new})"
    if arguments[1].constant:
        return call
    return f"if({search} = '', regexp_replace({text}, '', {literal_replacement(new)}), {call})"


def translated(arguments: Arguments) -> str:
    """TRANSLATE: replace characters; search characters without a replacement are removed.

    Without search characters, the text is not changed.
    """
    text, old, new = arguments
    put = f"coalesce({new.sql}, '')" if new.type.nullable else new.sql
    call = f"translate({text.sql}, {old.sql}, {put})"
    return f"if({old.sql} IS NULL, {text.sql}, {call})" if old.type.nullable else call


_WORDS = "'([A-Za-z0-9]+|[^A-Za-z0-9]+)'"


def capitalized(arguments: Arguments) -> str:
    """INITCAP: words are runs of ASCII letters and digits; other characters are not changed."""
    text = arguments[0].sql
    word = "concat(upper(left(w, 1)), lower(substring(w, 2)))"
    each = f"w -> if(w RLIKE '^[A-Za-z0-9]', {word}, w)"
    return f"array_join(transform(regexp_extract_all({text}, {_WORDS}, 1), {each}), '')"
