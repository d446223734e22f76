"""Plan `TO_CHANGELOG` and `FROM_CHANGELOG` in FROM; the rules are those of Flink 2.3."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from sqlglot import exp

from streamtable.core.changelog import RowKind
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import CHARACTER, STRING, Field
from streamtable.plan.binding.expressions import InputField
from streamtable.plan.binding.named_arguments import described_column, named_arguments
from streamtable.plan.query.relation import Relation, unique_names
from streamtable.plan.rows.changelog_functions import FromChangelog, ToChangelog
from streamtable.sql.nodes import FlinkCall, TableArgument, TableFunction
from streamtable.sql.place import place_of

_FUNCTIONS = ("TO_CHANGELOG", "FROM_CHANGELOG")
_PARAMETERS = ("input", "op", "op_mapping")
#: Name of the column with the code, unless `op` gives another.
_OP = "op"
_KINDS = {kind.name: kind for kind in RowKind}


def is_changelog_function(node: exp.Expr) -> bool:
    """Return whether an item of FROM is TO_CHANGELOG or FROM_CHANGELOG of Flink.

    Flink 2.2 leaves these names to functions of users.
    """
    if not isinstance(node, TableFunction) or node.this.args.get("function") is not None:
        return False
    return node.this.name in _FUNCTIONS


def plan_changelog_function(
    node: TableFunction, planned: Callable[[exp.Expr], Relation]
) -> Relation:
    """Turn the changes of a table into inserts with a code, or the reverse.

    Args:
        node: the call.
        planned: plans a table or query from its tree.

    Raises:
        StreamtableError: INVALID_CALL for invalid arguments.
    """
    call = node.this
    given = named_arguments(
        call, _PARAMETERS, ("op", "op_mapping"), lambda at, reason: _invalid(call, at, reason)
    )
    data = given["input"]
    if not isinstance(data, TableArgument | exp.Subquery):
        raise _invalid(call, data, "input is a table, written TABLE t")
    if data.args.get("partition_by") or data.args.get("order"):
        raise _invalid(call, data, "its table takes neither PARTITION BY nor ORDER BY, as in Flink")
    relation = planned(data.this if isinstance(data, TableArgument) else data)
    relation = replace(
        relation, columns=tuple(replace(c, qualifier=None) for c in relation.columns)
    )
    plan = _to_changelog if call.name == "TO_CHANGELOG" else _from_changelog
    return plan(call, relation, given)


def _to_changelog(call: FlinkCall, relation: Relation, given: dict[str, exp.Expr]) -> Relation:
    name = _op_name(call, given)
    if any(column.name == name for column in relation.columns):
        reason = f"its table has a column '{name}' already"
        raise _invalid(call, given.get("op", call), reason, "op => DESCRIPTOR(other) renames it")
    codes = {kind: kind.name for kind in RowKind}
    if "op_mapping" in given:
        codes = {}
        for kinds, code in _pairs(call, given["op_mapping"]):
            codes |= {_kind(call, kind): code.name for kind in _listed(kinds)}
    field = Field(unique_names([*(f.name for f in relation.node.fields), name])[-1], STRING)
    node = ToChangelog(relation.node, field, tuple(sorted(codes.items())))
    return Relation(node, (InputField(None, name, field), *relation.columns))


def _from_changelog(call: FlinkCall, relation: Relation, given: dict[str, exp.Expr]) -> Relation:
    name = _op_name(call, given)
    column = next((c for c in relation.columns if c.name == name), None)
    if column is None:
        raise _invalid(call, given.get("op", call), f"its table has no column '{name}'")
    if column.field.type.root not in CHARACTER:
        found = column.field.type.sql()
        raise _invalid(call, given.get("op", call), f"column '{name}' is no STRING, but {found}")
    codes = {kind.name: kind for kind in RowKind}
    if "op_mapping" in given:
        codes = _kinds_of_codes(call, given["op_mapping"])
    node = FromChangelog(relation.node, column.field.name, tuple(codes.items()), place_of(call))
    return Relation(node, tuple(c for c in relation.columns if c is not column))


def _kinds_of_codes(call: FlinkCall, mapping: exp.Expr) -> dict[str, RowKind]:
    codes: dict[str, RowKind] = {}
    seen: set[RowKind] = set()
    for given, named in _pairs(call, mapping):
        kind = _kind(call, named)
        if kind in seen:
            reason = f"op_mapping has {kind.name} twice"
            hint = f"write its codes in one string: MAP['a, b', '{kind.name}']"
            raise _invalid(call, named, reason, hint)
        seen.add(kind)
        codes |= {code.name: kind for code in _listed(given)}
    if RowKind.UPDATE_AFTER in seen and RowKind.UPDATE_BEFORE not in seen:
        reason = "op_mapping has UPDATE_AFTER, with which Flink demands UPDATE_BEFORE"
        hint = "a table of upserts reads new rows without the old ones"
        raise _invalid(call, mapping, reason, hint)
    return codes


def _op_name(call: FlinkCall, given: dict[str, exp.Expr]) -> str:
    node = given.get("op")
    if node is None:
        return _OP
    column = described_column(node)
    if not isinstance(column, exp.Column):
        raise _invalid(call, node, "op is written DESCRIPTOR(column), with one column")
    return str(column.name)


def _pairs(call: FlinkCall, node: exp.Expr) -> Iterator[tuple[exp.Literal, exp.Literal]]:
    """Yield keys and values of a MAP of string literals."""
    parts = node.expressions if isinstance(node, FlinkCall) and node.name == "MAP" else []
    literals = [p for p in parts if isinstance(p, exp.Literal) and p.is_string]
    if not literals or len(literals) < len(parts) or len(literals) % 2:
        raise _invalid(call, node, "op_mapping is written MAP['text', 'text', ...]")
    yield from zip(literals[::2], literals[1::2], strict=True)


def _listed(literal: exp.Literal) -> Iterator[exp.Literal]:
    """Yield the texts of a literal that commas separate, at its place."""
    for text in literal.name.split(","):
        part = literal.copy()
        part.set("this", text.strip())
        yield part


def _kind(call: FlinkCall, literal: exp.Literal) -> RowKind:
    found = _KINDS.get(literal.name.strip())
    if found is None:
        reason = f"op_mapping has no change operation '{literal.name}'"
        raise _invalid(call, literal, reason, f"known: {', '.join(_KINDS)}")
    return found


def _invalid(
    call: FlinkCall, at: exp.Expr, reason: str, hint: str | None = None
) -> StreamtableError:
    place = place_of(at) or place_of(call)
    return StreamtableError(
        Condition.INVALID_CALL, at=place, hint=hint, call=call.name, reason=reason
    )
