"""Options of tables on which the rows of a query depend, beside the shape of its plan.

They are no part of the hash of a plan: a checkpoint of an earlier version does not have them, and
goes on whatever they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from streamtable.core.table import FormattedConnector, Table

#: table -> option -> value; options that have their default value are not in it.
RowOptions = Mapping[str, Mapping[str, str]]

#: Length of the values in messages.
_SHOWN = 60


def row_options(tables: Iterable[Table], *, written: bool) -> RowOptions:
    """Return the options of the formats of tables on which rows depend."""
    found = {
        table.name: table.connector.row_options(written=written)
        for table in tables
        if isinstance(table.connector, FormattedConnector)
    }
    return {name: options for name, options in found.items() if options}


def first_other(old: RowOptions | None, now: RowOptions | None) -> str | None:
    """Describe the first option that differs, in words; None if there is none.

    Args:
        old: options of a query in a checkpoint; None if the checkpoint does not have them.
        now: options of the same tables.
    """
    if old is None or now is None:
        return None
    return next(_others(old, now), None)


def _others(old: RowOptions, now: RowOptions) -> Iterator[str]:
    for table in sorted(old.keys() | now.keys()):
        before, after = old.get(table, {}), now.get(table, {})
        for option in sorted(before.keys() | after.keys()):
            if before.get(option) != after.get(option):
                was, is_now = (_shown(one.get(option)) for one in (before, after))
                yield f"option '{option}' of {table} was {was} and is now {is_now}"


def _shown(value: str | None) -> str:
    """Return a value for a message; a schema may have many lines."""
    if value is None:
        return "not set"
    return repr(value if len(value) <= _SHOWN else f"{value[:_SHOWN]}...")
