"""DESCRIBE CATALOG and DESCRIBE FUNCTION, formatted like Flink's answers."""

from __future__ import annotations

from streamtable.catalog.catalog import Catalog
from streamtable.catalog.functions import UserFunction
from streamtable.core.answer import Answer
from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.core.secrets import shown_option
from streamtable.plan.functions import AGGREGATES, FUNCTIONS
from streamtable.sql.statements.listings import DescribeCatalog, DescribeFunction

_HEADINGS = ("info name", "info value")
_TYPE = "type"


def described_catalog(statement: DescribeCatalog, catalog: Catalog) -> Answer:
    """Return name, type and comment of a catalog; with EXTENDED, its other options, too.

    Raises:
        StreamtableError: UNKNOWN_CATALOG.
    """
    found = catalog.namespaces.described(statement.name, statement.name_at)
    rows = [
        ("name", found.name),
        (_TYPE, found.options[_TYPE]),
        ("comment", found.comment or ""),
    ]
    if statement.extended:
        options = {key: value for key, value in found.options.items() if key != _TYPE}
        rows += [(f"option:{key}", shown_option(key, text)) for key, text in options.items()]
    return Answer(_HEADINGS, tuple(rows))


def described_function(statement: DescribeFunction, catalog: Catalog) -> Answer:
    """Return where a function comes from; with EXTENDED, its kind and its signatures, too.

    Python runs no function when a query is planned, so "supports constant folding" is false for
    user-defined functions.

    Raises:
        StreamtableError: UNKNOWN_FUNCTION.
    """
    found = catalog.functions.found(statement.name)
    if found is None:
        rows = _built_in(statement, catalog)
    else:
        function, system, temporary = found
        rows = [("is system function", _text(system)), ("is temporary", _text(temporary))]
        if not system:
            rows += [
                ("class name", function.class_name),
                ("function language", function.language),
                ("resource uris", "[]"),
            ]
        home = catalog.namespaces.path(statement.name)
        shown = function.name if system else f"{home.catalog}.{home.database}.{function.name}"
        rows += _extended(function, shown)
    wanted = rows if statement.extended else [row for row in rows if row[0] not in _EXTENDED]
    return Answer(_HEADINGS, tuple(wanted))


_EXTENDED = ("kind", "requirements", "is deterministic", "supports constant folding", "signature")


def _extended(function: UserFunction, shown: str) -> list[tuple[str, str]]:
    kind = "TABLE" if function.is_table else "AGGREGATE" if function.is_aggregate else "SCALAR"
    usage = "\n".join(f"{shown}{usage}" for usage in function.usages())
    return _details(kind, usage, deterministic=function.deterministic, folds=False)


def _built_in(statement: DescribeFunction, catalog: Catalog) -> list[tuple[str, str]]:
    name = statement.name[-1].upper()
    head = [("is system function", _text(value=True)), ("is temporary", _text(value=False))]
    scalar = FUNCTIONS.get(name)
    if len(statement.name) == 1 and scalar is not None and scalar.available:
        overloads = [overload for overload in scalar.overloads if overload.lacking is None]
        signature = "\n".join(f"{name}{overload.usage()}" for overload in overloads)
        deterministic = all(overload.deterministic for overload in overloads)
        return head + _details("SCALAR", signature, deterministic=deterministic, folds=True)
    aggregate = AGGREGATES.get(name)
    if len(statement.name) == 1 and aggregate is not None and aggregate.gives is not None:
        signature = f"{name}({aggregate.expected})"
        return head + _details("AGGREGATE", signature, deterministic=True, folds=True)
    known = [f.name for f in FUNCTIONS.values() if f.available] + list(AGGREGATES)
    raise StreamtableError(
        Condition.UNKNOWN_FUNCTION,
        at=statement.name_at,
        function=".".join(statement.name),
        hint=closest(name, [*known, *(n.upper() for n in catalog.functions.names())]),
    )


def _details(
    kind: str, signature: str, *, deterministic: bool, folds: bool
) -> list[tuple[str, str]]:
    values = (kind, "[]", _text(deterministic), _text(folds), signature)
    return list(zip(_EXTENDED, values, strict=True))


def _text(value: bool) -> str:
    return str(value).lower()
