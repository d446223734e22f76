"""Hints: table options in a query, and join hints.

Source of the rules: Flink's *SQL Hints* page. Names in a hint must exist, as in Flink.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from streamtable.catalog.catalog import Catalog
from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.core.options import Given
from streamtable.core.settings.table import DYNAMIC_TABLE_OPTIONS
from streamtable.core.table import Table
from streamtable.plan.query.lookup_hints import HINT as LOOKUP
from streamtable.plan.query.relation import Relation
from streamtable.plan.query.ttl_hints import HINT as STATE_TTL
from streamtable.sql.nodes import HintNode, HintOption
from streamtable.sql.place import place_of

#: Join hints for batch jobs. Flink's streaming jobs check and ignore them, as does streamtable.
_OF_BATCH = ("BROADCAST", "SHUFFLE_HASH", "SHUFFLE_MERGE", "NEST_LOOP")
_LACKING = ("MULTI_JOIN",)


def hinted(table: Table, hints: Sequence[HintNode], catalog: Catalog, *, allowed: bool) -> Table:
    """Return a table with the options of its hints in a query.

    Args:
        table: the declared table.
        hints: the hints after the table's name.
        catalog: checks the options like those of a declaration.
        allowed: value of `table.dynamic-table-options.enabled`.

    Raises:
        StreamtableError: UNKNOWN_HINT for a hint other than OPTIONS, OPTION_NOT_SETTABLE if hints
            are not allowed, or an error of an option.
    """
    given: dict[str, Given] = {}
    for hint in hints:
        if hint.name != "OPTIONS":
            raise _unknown(hint, ("OPTIONS",))
        for part in hint.expressions:
            if not isinstance(part, HintOption):
                raise StreamtableError(
                    Condition.SYNTAX, at=place_of(part), expected="'key' = 'value'", found=part.name
                )
        given.update(hint.options)
    return with_options(table, given, catalog, allowed=allowed)


def with_options(
    table: Table, given: Mapping[str, Given], catalog: Catalog, *, allowed: bool
) -> Table:
    """Return the table with changed options; see `hinted`."""
    if not given:
        return table
    if not allowed:
        key, value = next(iter(given.items()))
        raise StreamtableError(
            Condition.OPTION_NOT_SETTABLE,
            at=value.at,
            option=key,
            reason=f"'{DYNAMIC_TABLE_OPTIONS.key}' is 'false'",
            hint="set it in the table's WITH clause",
        )
    return catalog.with_options(table, given)


def check_not_view(name: str, hints: Sequence[HintNode]) -> None:
    """Refuse hints on a view, which has no options."""
    if hints:
        raise StreamtableError(
            Condition.OPTION_NOT_SETTABLE,
            at=place_of(hints[0]),
            option=hints[0].name,
            reason=f"{name} is a view or query, not a table",
            hint="write the hint after a table in it",
        )


def check_query_hints(query: exp.Select, relation: Relation) -> None:
    """Check the hints after SELECT; `ttl_hints` and `lookup_hints` read those with an effect.

    Raises:
        StreamtableError: UNKNOWN_HINT, NOT_YET, or UNKNOWN_TABLE for a name that is not in FROM.
    """
    clause = query.args.get("hint")
    known = {c.qualifier for c in relation.columns if c.qualifier}
    for hint in clause.expressions if clause is not None else ():
        if hint.name in _LACKING:
            raise StreamtableError(
                Condition.NOT_YET, at=place_of(hint), what=f"the hint {hint.name}"
            )
        if hint.name not in (*_OF_BATCH, LOOKUP, STATE_TTL):
            raise _unknown(hint, (*_OF_BATCH, *_LACKING, LOOKUP, STATE_TTL))
        if hint.name != LOOKUP:  # its names are the values of options, which `LookupHints` checks
            _check_names(hint, known)


def _check_names(hint: HintNode, known: Iterable[str]) -> None:
    """Check that every table in a hint is in FROM."""
    known = set(known)
    for part in hint.expressions:
        if part.name not in known:
            raise StreamtableError(
                Condition.UNKNOWN_TABLE,
                at=place_of(part),
                table=part.name,
                hint=closest(part.name, known) or "a hint names tables of FROM, or their aliases",
            )


def _unknown(hint: HintNode, known: Sequence[str]) -> StreamtableError:
    return StreamtableError(
        Condition.UNKNOWN_HINT,
        at=place_of(hint),
        name=hint.name,
        hint="write it after the name of a table"
        if hint.name == "OPTIONS"
        else closest(hint.name, known) or f"known here: {', '.join(known)}",
    )
