"""Flink's functions that are not supported yet: refused as such, not as unknown.

Names up to 2.2 are those that Flink 2.2 registers. Later names are from Flink's release notes and
development branch.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.plan.functions.model import Category, Function


@dataclass(frozen=True)
class _Family:
    """A group of unsupported functions.

    Attributes:
        category: chapter of the functions.
        names: in upper case.
        instead: replacement that a user can write today.
        since: Flink version that added the functions; None: 2.2 or earlier.
        placed: whether the functions are supported in clauses of their own.
    """

    category: Category
    names: tuple[str, ...]
    instead: str
    since: str | None = None
    placed: bool = False


def _words(*lines: str) -> tuple[str, ...]:
    return tuple(word for line in lines for word in line.split())


_FAMILIES = (
    _Family(
        Category.TEMPORAL,
        ("SOURCE_WATERMARK",),
        "write the watermark as an expression, e.g. ts - INTERVAL '5' SECOND",
    ),
    _Family(
        Category.VARIANT,
        ("PARSE_JSON", "TRY_PARSE_JSON"),
        "keep the string and read it with JSON_VALUE or JSON_QUERY",
        "2.1",
    ),
    _Family(Category.CONSTRUCTION, ("OBJECT_OF",), "ROW(...) has the same values", "2.1"),
    _Family(Category.MODIFICATION, ("OBJECT_UPDATE",), "create a new value with ROW(...)", "2.1"),
    _Family(
        Category.AUXILIARY,
        ("CURRENT_CATALOG",),
        "SHOW CURRENT CATALOG shows it; CURRENT_DATABASE() is there",
    ),
    _Family(
        Category.AUXILIARY,
        _words(
            "HOP HOP_END HOP_PROCTIME HOP_ROWTIME HOP_START SESSION SESSION_END SESSION_PROCTIME",
            "SESSION_ROWTIME SESSION_START TUMBLE TUMBLE_END TUMBLE_PROCTIME TUMBLE_ROWTIME",
            "TUMBLE_START CUMULATE",
        ),
        "write FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), ...)); or GROUP BY TUMBLE(ts, ...) with"
        " TUMBLE_START(ts, ...) and the like beside it",
        placed=True,
    ),
    _Family(
        Category.AUXILIARY,
        _words("FIRST LAST MATCH_PROCTIME MATCH_ROWTIME"),
        "call it in DEFINE and MEASURES of MATCH_RECOGNIZE; FIRST_VALUE, LAST_VALUE and LAG are"
        " similar",
        placed=True,
    ),
    _Family(
        Category.AUXILIARY,
        _words("CLASSIFIER NEXT PREV"),
        "Flink's MATCH_RECOGNIZE does not support it either, but for PREV and NEXT by 0 rows",
    ),
    _Family(
        Category.AUXILIARY,
        ("ML_PREDICT", "ML_EVALUATE", "VECTOR_SEARCH"),
        "CREATE FUNCTION ... LANGUAGE PYTHON can call a model",
    ),
    _Family(
        Category.STRING,
        ("IS_VALID_UTF8", "MAKE_VALID_UTF8"),
        "DECODE(bytes, 'UTF-8') replaces invalid UTF-8",
        "2.3",
    ),
    _Family(
        Category.AUXILIARY,
        ("FROM_CHANGELOG", "TO_CHANGELOG"),
        "call it in FROM, with a table: TO_CHANGELOG(input => TABLE t)",
        "2.3",
        placed=True,
    ),
    _Family(
        Category.ARITHMETIC,
        ("UUID_V4", "UUID_V7"),
        "UUID() returns a random UUID as a string",
        "2.4",
    ),
)

LACKING = tuple(
    Function(
        name, family.category, instead=family.instead, placed=family.placed, since=family.since
    )
    for family in _FAMILIES
    for name in family.names
)
