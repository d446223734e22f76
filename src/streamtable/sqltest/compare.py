"""Compare the changes of a run with the expectations of a case, and show the differences."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from streamtable.core.changelog import RowKind
from streamtable.core.table import Table
from streamtable.sqltest.model import Case, Expected, Wanted
from streamtable.sqltest.values import Entries

_PLAIN = re.compile(r"[^\W\d][\w .]*\Z")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off"})
Changes = Sequence[tuple[RowKind, tuple[Any, ...]]]


def differences(case: Case, found: Mapping[str, Changes], zone: tzinfo) -> list[str]:
    """Return the lines of all differences, expected lines with `-` and found lines with `+`."""
    lines: list[str] = []
    for expected in case.expected:
        lines += _of_table(expected, found[expected.table.name], zone)
    return lines


def final_tables(case: Case, found: Mapping[str, Changes]) -> dict[str, Counter[tuple[Any, ...]]]:
    """Return the rows of each expected table at the end."""
    return {e.table.name: Counter(folded(e.table, found[e.table.name])) for e in case.expected}


def _of_table(expected: Expected, found: Changes, zone: tzinfo) -> list[str]:
    table, lines = expected.table, []
    if expected.rows is not None:
        rows = [(RowKind.INSERT, row) for row in folded(table, found)]
        wanted, have = expected.rows, _projected(rows, expected.rows)
        if Counter(row for _, row in wanted.rows) != Counter(row for _, row in have):
            lines += [f"table {table.name}: the final rows differ"]
            lines += _diff(table, wanted, have, zone, kinds=False)
    if expected.changes is not None:
        wanted = expected.changes
        have = _projected(_received(table, found), wanted)
        if not _same_changes(table, wanted, have):
            lines += [f"table {table.name}: the changes differ"]
            lines += _diff(table, wanted, have, zone, kinds=True)
    return lines


def folded(table: Table, changes: Changes) -> list[tuple[Any, ...]]:
    """Return the rows to which changes fold: by the table's key, or each row as often as it is."""
    key = _key(table)
    if key is None:
        bag: Counter[tuple[Any, ...]] = Counter()
        for kind, row in _received(table, changes):
            bag[row] += -1 if kind.removes else 1
        return list(bag.elements())
    rows: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for kind, row in changes:
        name = tuple(row[i] for i in key)
        if kind is RowKind.DELETE:
            rows.pop(name, None)
        elif kind is not RowKind.UPDATE_BEFORE:
            rows[name] = row
    return list(rows.values())


def _received(table: Table, changes: Changes) -> list[tuple[RowKind, tuple[Any, ...]]]:
    """Return the changes that the connector writes; it drops row kinds that it does not have."""
    writes = table.connector.writes
    return [change for change in changes if writes.is_append or change[0] in writes.kinds]


def _key(table: Table) -> tuple[int, ...] | None:
    names = [f.name for f in table.schema.persisted]
    key = table.schema.primary_key
    return tuple(names.index(name) for name in key) if key else None


def _projected(changes: Changes, wanted: Wanted) -> list[tuple[RowKind, tuple[Any, ...]]]:
    """Return only the compared columns; all of them if no row is expected."""
    if not wanted.rows:
        return list(changes)
    return [(kind, tuple(row[i] for i in wanted.columns)) for kind, row in changes]


def _same_changes(table: Table, wanted: Wanted, found: Changes) -> bool:
    groups = [_by_key(table, wanted, changes) for changes in (wanted.rows, found)]
    normal = [
        {key: [_normal(table, wanted, change) for change in changes] for key, changes in g.items()}
        for g in groups
    ]
    if _key_of(table, wanted) is None:
        return Counter(normal[0].get((), [])) == Counter(normal[1].get((), []))
    return normal[0] == normal[1]


def _normal(table: Table, wanted: Wanted, change: tuple[RowKind, tuple[Any, ...]]) -> Any:
    """Return a change as an upsert table stores it: +I equals +U, and a delete has only the key."""
    kind, row = change
    if table.connector.writes.has_before or table.connector.writes.is_append:
        return kind, row
    if kind is RowKind.DELETE:
        key = _key_of(table, wanted) or ()
        return kind, tuple(row[i] for i in key)
    return RowKind.UPDATE_AFTER, row


def _key_of(table: Table, wanted: Wanted) -> tuple[int, ...] | None:
    """Return the positions of the key among the compared columns; None if one is not compared."""
    key = _key(table)
    columns = wanted.columns if wanted.rows else tuple(range(len(table.schema.persisted)))
    if key is None or not set(key) <= set(columns):
        return None
    return tuple(columns.index(i) for i in key)


def _by_key(table: Table, wanted: Wanted, changes: Changes) -> dict[tuple[Any, ...], list[Any]]:
    key = _key_of(table, wanted) or ()
    found: dict[tuple[Any, ...], list[Any]] = {}
    for change in changes:
        found.setdefault(tuple(change[1][i] for i in key), []).append(change)
    return found


def _diff(table: Table, wanted: Wanted, found: Changes, zone: tzinfo, *, kinds: bool) -> list[str]:
    fields = table.schema.persisted
    columns = wanted.columns if wanted.rows else tuple(range(len(fields)))
    names = [fields[i].name for i in columns]
    expected, have = (_by_key(table, wanted, changes) for changes in (wanted.rows, found))
    lines = []
    for key in sorted({*expected, *have}, key=repr):
        sides = []
        for group in (expected, have):
            shown = [_shown(names, change, zone, kinds=kinds) for change in group.get(key, [])]
            sides.append(shown if kinds and key else sorted(shown))
        lines += [
            f"  {line}" for line in difflib.ndiff(sides[0], sides[1]) if not line.startswith("?")
        ]
    return lines


def _shown(
    names: Iterable[str], change: tuple[RowKind, tuple[Any, ...]], zone: tzinfo, *, kinds: bool
) -> str:
    kind, row = change
    items = [f"op: {kind.short}"] if kinds else []
    items += [f"{name}: {show(value, zone)}" for name, value in zip(names, row, strict=True)]
    return f"{{{', '.join(items)}}}"


def show(value: Any, zone: tzinfo) -> str:
    """Format a value as a test file has it."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            plain = _PLAIN.match(value) and value.lower() not in _WORDS
            return value if plain else json.dumps(value, ensure_ascii=False)
        case bytes():
            return f"x'{value.hex()}'"
        case datetime():
            return f"'{(value.astimezone(zone) if value.tzinfo else value).replace(tzinfo=None)}'"
        case Entries():
            pairs = sorted((show(k, zone), show(v, zone)) for k, v in value)
            return f"{{{', '.join(f'{k}: {v}' for k, v in pairs)}}}"
        case tuple():
            return f"[{', '.join(show(item, zone) for item in value)}]"
    return str(value)
