"""Statements that Flink has and streamtable has not yet: recognised by their first words."""

from __future__ import annotations

from collections.abc import Callable

#: First words of each, longest first where one begins another; the words are its name too.
NOT_YET = (
    ("CREATE", "OR", "REPLACE", "TABLE"),
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
    ("SHOW", "MODULES"),
    ("SHOW", "FULL", "MODULES"),
    ("SHOW", "JARS"),
    ("SHOW", "JOBS"),
    ("SHOW", "PARTITIONS"),
    ("SHOW", "PROCEDURES"),
    ("SHOW", "MODELS"),
    ("SHOW", "CONNECTIONS"),
    ("SHOW", "MATERIALIZED", "TABLES"),
    ("SHOW", "CREATE", "CATALOG"),
    ("SHOW", "CREATE", "FUNCTION"),
    ("SHOW", "CREATE", "MATERIALIZED", "TABLE"),
    ("SHOW", "CREATE", "MODEL"),
    ("DESCRIBE", "CATALOG"),
    ("DESCRIBE", "DATABASE"),
    ("DESCRIBE", "EXTENDED"),
    ("DESCRIBE", "FUNCTION"),
    ("DESCRIBE", "JOB"),
    ("DESCRIBE", "MODEL"),
    ("DESC", "CATALOG"),
    ("DESC", "DATABASE"),
    ("DESC", "EXTENDED"),
    ("DESC", "FUNCTION"),
    ("DESC", "JOB"),
    ("DESC", "MODEL"),
    ("ADD", "JAR"),
    ("REMOVE", "JAR"),
    ("CALL",),
    ("COMPILE", "AND", "EXECUTE", "PLAN"),
    ("COMPILE", "PLAN"),
    ("EXECUTE", "PLAN"),
    ("LOAD", "MODULE"),
    ("UNLOAD", "MODULE"),
    ("STOP", "JOB"),
)


def refused_statement(sees: Callable[..., bool]) -> str | None:
    """The name of a statement of Flink's that is not there yet, else None.

    Args:
        sees: whether the statement begins with these words.
    """
    found = next((words for words in NOT_YET if sees(*words)), None)
    return " ".join(found) if found else None
