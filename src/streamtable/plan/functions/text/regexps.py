"""Functions with Java regular expressions; an invalid one gives NULL, as in Flink."""

from __future__ import annotations

from streamtable.core.types import BOOLEAN, INT, STRING, array
from streamtable.plan.functions.kinds import TEXT, WHOLE
from streamtable.plan.functions.model import Arguments, Builder, Category, Function, Nulls, one

_STRING = Category.STRING


def _group(function: str, otherwise: int) -> Builder:
    def sql(arguments: Arguments) -> str:
        text, regex, *index = arguments
        group = index[0].sql if index else otherwise
        return f"{function}({text.sql}, {regex.sql}, {group})"

    return sql


def literal_replacement(sql: str) -> str:
    """Escape a replacement for Spark's `regexp_replace`, so that it is literal."""
    return f"replace(replace({sql}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"


REGEXPS: tuple[Function, ...] = (
    one(
        "REGEXP",
        _STRING,
        (TEXT, TEXT),
        BOOLEAN,
        "flink_regexp_matches({0}, {1})",
        "Whether any part matches.",
    ),
    one(
        "REGEXP_COUNT",
        _STRING,
        (TEXT, TEXT),
        INT,
        "flink_regexp_count({0}, {1})",
        "How often it matches.",
        nulls=Nulls.ALWAYS,
    ),
    one(
        "REGEXP_EXTRACT",
        _STRING,
        (TEXT, TEXT, WHOLE),
        STRING,
        _group("flink_regexp_extract", 0),
        "The first match, or a group of it; NULL where there is none.",
        optional=1,
        nulls=Nulls.ALWAYS,
    ),
    one(
        "REGEXP_EXTRACT_ALL",
        _STRING,
        (TEXT, TEXT, WHOLE),
        array(STRING),
        _group("flink_regexp_extract_all", 1),
        "A group of every match.",
        optional=1,
        nulls=Nulls.ALWAYS,
    ),
    one(
        "REGEXP_INSTR",
        _STRING,
        (TEXT, TEXT),
        INT,
        "flink_regexp_instr({0}, {1})",
        "Where the first match begins; 0 if nowhere.",
        nulls=Nulls.ALWAYS,
    ),
    one(
        "REGEXP_REPLACE",
        _STRING,
        (TEXT, TEXT, TEXT),
        STRING,
        "flink_regexp_replace({0}, {1}, {2})",
        "The text with every match replaced.",
    ),
    one(
        "REGEXP_SUBSTR",
        _STRING,
        (TEXT, TEXT),
        STRING,
        "flink_regexp_substr({0}, {1})",
        "The first match; NULL where there is none.",
        nulls=Nulls.ALWAYS,
    ),
)
