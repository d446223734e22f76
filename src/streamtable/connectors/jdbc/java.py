"""The Java side of a table's database: its driver, its access, and its errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from streamtable.connectors.jdbc.table import JdbcTable
from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.faults import JavaError
from streamtable.jvm.install.jars import JarSet

_DRIVERS = Path(__file__).with_name("ivy.xml")
#: The message of a `JdbcFault`: kind, url, reason. A writer's message has no class before it.
_FAULT = re.compile(r"(?:\A|JdbcFault: )(LOGIN|UNREACHABLE|REFUSED|MISFIT)\|([^|\n]*)\|([^\n]*)")
_CONDITIONS = {
    "LOGIN": (
        Condition.DATABASE_LOGIN_FAILED,
        "check 'username', 'password' and the database in 'url'",
    ),
    "UNREACHABLE": (
        Condition.DATABASE_UNREACHABLE,
        "check 'url' and whether the database is running, then restart with the same checkpoint",
    ),
    "REFUSED": (
        Condition.DATABASE_REFUSED,
        "check 'table-name', the columns of the table, and the rights of the user",
    ),
    "MISFIT": (
        Condition.DATABASE_REFUSED,
        "change the table in the database, or its declaration in the script",
    ),
}
_JAR_HINT = "name its jar in SET 'spark.jars' = '/path/to/driver.jar'"


def java_table(table: JdbcTable, bridge: Bridge) -> Any:
    """Return the Java object of the table and its access."""
    access = table.access
    java = bridge.java.jdbc
    return java.JdbcTable(
        java.JdbcAccess.create(
            access.database.dialect,
            access.url,
            access.shown_url,
            access.driver,
            access.username,
            access.password,
            access.timeout // timedelta(seconds=1),
            bridge.java_map(dict(access.properties)),
        ),
        table.name_there,
    )


def checked(table: JdbcTable, bridge: Bridge, check: Callable[[Any], None]) -> None:
    """Run a check of the Java side on a table; load the driver first.

    Raises:
        StreamtableError: DRIVER_MISSING, or an error of the database, at the table.
    """
    load_driver(table, bridge)
    try:
        check(java_table(table, bridge))
    except JavaError as error:
        explained = _explained(str(error.java_exception.getMessage()))
        if explained is None:
            raise
        raise explained.located(table.at) from None


def explain(table: JdbcTable, text: str) -> StreamtableError | None:
    """Translate an exception about the table; None for any other.

    Args:
        table: the table.
        text: the exception with all its causes, as Spark prints it.
    """
    found = _FAULT.search(text)
    named = f"table '{table.name_there}'"
    if found is None or found[2] != table.access.shown_url or named not in found[3]:
        return None
    explained = _explained(found[0])
    return None if explained is None else explained.located(table.at)


def load_driver(table: JdbcTable, bridge: Bridge) -> None:
    """Make the driver available: from Spark's class path, else from the list of known drivers.

    Raises:
        StreamtableError: DRIVER_MISSING.
    """
    access = table.access
    database = access.database
    if bridge.has_class(access.driver):
        return
    if access.driver != database.driver:
        raise _missing(table, "it is not on Spark's class path", _JAR_HINT)
    if not bridge.is_local:
        # Executors on other machines load jars at the start of Spark.
        raise _missing(table, "it is not on the class path of Spark's cluster", _JAR_HINT)
    wanted = JarSet(database.conf, f"the driver of {database.name}", database.size, _DRIVERS)
    try:
        jars = wanted.jars()
    except StreamtableError as error:
        reason = f"it could not be fetched: {error.values.get('reason', error.condition.name)}"
        raise _missing(table, reason, _JAR_HINT) from None
    for jar in jars:
        bridge.add_jar(jar)


def _explained(message: str) -> StreamtableError | None:
    found = _FAULT.search(message)
    if found is None:
        return None
    condition, hint = _CONDITIONS[found[1]]
    return StreamtableError(condition, url=found[2], reason=found[3], hint=hint)


def _missing(table: JdbcTable, reason: str, hint: str) -> StreamtableError:
    return StreamtableError(
        Condition.DRIVER_MISSING,
        at=table.at,
        driver=table.access.driver,
        table=table.table,
        reason=reason,
        hint=hint,
    )
