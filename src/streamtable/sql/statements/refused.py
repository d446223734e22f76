"""Flink's statements that streamtable does not support yet: recognized by their first keywords."""

from __future__ import annotations

from collections.abc import Callable

#: First keywords of each statement, which are also its name; longer prefixes come first.
NOT_YET = (
    ("CREATE", "OR", "ALTER", "TABLE"),
    ("CREATE", "OR", "ALTER", "MATERIALIZED", "TABLE"),
    ("CREATE", "MATERIALIZED", "TABLE"),
    ("CREATE", "TEMPORARY", "MODEL"),
    ("CREATE", "MODEL"),
    ("CREATE", "CONNECTION"),
    ("DROP", "TEMPORARY", "MODEL"),
    ("DROP", "MATERIALIZED", "TABLE"),
    ("DROP", "MODEL"),
    ("DROP", "CONNECTION"),
    ("ALTER", "MATERIALIZED", "TABLE"),
    ("ALTER", "FUNCTION"),
    ("ALTER", "CATALOG"),
    ("ALTER", "DATABASE"),
    ("ALTER", "MODEL"),
    ("INSERT", "OVERWRITE"),
    ("DELETE", "FROM"),
    ("UPDATE",),
    ("TRUNCATE", "TABLE"),
    ("ANALYZE", "TABLE"),
    ("USE", "MODULES"),
    ("SHOW", "PARTITIONS"),
    ("SHOW", "PROCEDURES"),
    ("SHOW", "CONNECTIONS"),
    ("SHOW", "CREATE", "FUNCTION"),
    ("SHOW", "CREATE", "MATERIALIZED", "TABLE"),
    ("SHOW", "CREATE", "MODEL"),
    ("DESCRIBE", "DATABASE"),
    ("DESCRIBE", "MODEL"),
    ("DESC", "DATABASE"),
    ("DESC", "MODEL"),
    ("CALL",),
    ("COMPILE", "AND", "EXECUTE", "PLAN"),
    ("COMPILE", "PLAN"),
    ("EXECUTE", "PLAN"),
    ("LOAD", "MODULE"),
    ("UNLOAD", "MODULE"),
)


def refused_statement(sees: Callable[..., bool]) -> str | None:
    """Return the name of an unsupported Flink statement, else None.

    Args:
        sees: returns whether the statement begins with these keywords.
    """
    found = next((words for words in NOT_YET if sees(*words)), None)
    return " ".join(found) if found else None
