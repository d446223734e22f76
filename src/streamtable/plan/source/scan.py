"""The scan of a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from streamtable.core.changelog import ChangelogMode
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.identity import stable
from streamtable.core.settings.table import CDC_DUPLICATES
from streamtable.core.table import SnapshotConnector, Table
from streamtable.core.types import DataType, Field
from streamtable.plan.binding.bound import Path
from streamtable.plan.inputs import LeafNode
from streamtable.plan.keys import unique_keys
from streamtable.plan.node import Key, Node
from streamtable.plan.position import POSITION, POSITION_NAMES
from streamtable.plan.source.normalize import Normalize


@stable("Scan", table="table", fields="fields")
@dataclass(frozen=True)
class Scan(LeafNode):
    """Scan of a table: physical and metadata columns, in the connector's types.

    Attributes:
        fields: the columns to read, in the table's order; then `POSITION`, if an operator needs it.
        paths: the columns, or the parts of them, that the consumers read; None: whole columns.
    """

    title = "Scan"
    state = None

    table: Table
    fields: tuple[Field, ...]
    paths: frozenset[Path] | None = field(default=None, compare=False)

    @property
    def mode(self) -> ChangelogMode:
        """Row kinds that the connector reads."""
        return self.table.connector.reads

    def row_keys(self, *, ordered: bool) -> tuple[Key, ...]:
        """Return the primary key, if the connector guarantees it."""
        del ordered
        key = self.table.schema.primary_key
        return (key,) if key and not self.mode.is_append else ()

    def decided_by_key(self) -> frozenset[str]:
        """Return the primary key."""
        return frozenset(self.table.schema.primary_key)

    def fields_of_deletes(self) -> frozenset[str] | None:
        """Return the primary key and the metadata of the record, if the scan emits upserts."""
        if self.mode.is_append or self.mode.has_before:
            return None
        return self.decided_by_key() | {c.name for c in self.table.schema.metadata}

    def satisfied(self, before: bool, duplicates: bool) -> Node:
        """Add `ChangelogNormalize` if a consumer needs update-before rows that the connector lacks.

        The operator is also added if change events may occur twice: an aggregate would count a
        repeated row twice.

        Raises:
            StreamtableError: PRIMARY_KEY_REQUIRED if change events may occur twice and the table
                has no key.
        """
        if duplicates and self.mode.has_before and not self.table.schema.primary_key:
            raise StreamtableError(
                Condition.PRIMARY_KEY_REQUIRED,
                at=self.table.at,
                hint="add PRIMARY KEY (column, ...) NOT ENFORCED to its columns",
                table=self.table.name,
                owner=f"'{CDC_DUPLICATES.key}' = 'true'",
            )
        met = self.mode.has_before and not duplicates
        if self.mode.is_append or met or not before:
            return self
        return Normalize(self, key=self.table.schema.primary_key)

    @property
    def retracts_unknown(self) -> bool:
        """Whether the scan reads changes of rows that were added before its first record."""
        connector = self.table.connector
        snapshot = isinstance(connector, SnapshotConnector) and connector.has_snapshot
        return not self.mode.is_append and not snapshot

    def positioned(self) -> Scan:
        """Return the scan with the position of each record."""
        if set(POSITION_NAMES) & {f.name for f in self.fields}:
            return self
        return replace(self, fields=(*self.fields, *POSITION))

    def narrowed(self, wanted: set[str]) -> Scan:
        """Return the scan without unused columns; the key is kept, because it identifies rows."""
        keep = wanted.union(*unique_keys(self))
        return replace(self, fields=tuple(f for f in self.fields if f.name in keep))

    def in_parts(self, wanted: frozenset[Path]) -> Scan:
        """Return the scan with the parts that its consumers read."""
        return replace(self, paths=wanted)

    @property
    def parts(self) -> Mapping[str, DataType]:
        """The types of the ROW columns of which only some fields are read."""
        read = self.paths
        if read is None:
            return {}
        found = {f.name: (f.type, _part(f.type, (f.name,), read)) for f in self.fields}
        return {name: part for name, (whole, part) in found.items() if part != whole}

    @property
    def runs_together(self) -> bool:
        """Whether the tree can run with others: always."""
        return True

    @property
    def changes(self) -> str:
        """Changes of the table."""
        return f"the changes of {self.table.name}"

    @property
    def described(self) -> str:
        """Includes the connector's name."""
        return f"the scan of table {self.table.name} ({self.table.connector.name})"

    @property
    def headline(self) -> str:
        """Shows the connector and the columns."""
        parts = self.parts
        columns = ", ".join(f.name + _shown(parts.get(f.name)) for f in self.fields)
        text = f"Scan {self.table.name}: {self.table.connector.describe()}, reads ({columns})"
        watermark = self.table.schema.watermark
        return f"{text}, watermark on {watermark.column}" if watermark else text

    def line(self, normalized: str | None) -> str:
        """Return the headline; it marks an upsert scan that needs no `ChangelogNormalize`.

        Such a scan saves the state of the normalizer.
        """
        upserts = not self.mode.is_append and not self.mode.has_before
        if upserts and normalized is None:
            return f"{self.headline}, not normalized: no consumer needs update-before rows"
        if upserts and normalized != Normalize.title:
            return f"{self.headline}, not normalized: {normalized} keeps the old rows"
        return self.headline


def _part(kind: DataType, path: Path, read: frozenset[Path]) -> DataType:
    """Return the type of a column, or of a part of it, with the fields that are read.

    Args:
        kind: the type of the value at `path`.
        path: the place of the value.
        read: what is read of all columns.
    """
    if path in read or not kind.fields:
        return kind
    below = {other[len(path)] for other in read if other[: len(path)] == path}
    fields = tuple(
        replace(f, type=_part(f.type, (*path, f.name), read))
        for f in kind.fields
        if f.name in below
    )
    return replace(kind, fields=fields) if fields else kind


def _shown(part: DataType | None) -> str:
    """Return the fields of a part of a ROW, e.g. `<id, address<city>>`."""
    if part is None or not part.fields:
        return ""
    return f"<{', '.join(f.name + _shown(f.type) for f in part.fields)}>"


def scans(node: Node) -> tuple[Scan, ...]:
    """Return all scans below a node, left to right."""
    if isinstance(node, Scan):
        return (node,)
    return tuple(scan for child in node.inputs for scan in scans(child))


def unkept_scans(node: Node) -> tuple[Scan, ...]:
    """Return the scans whose rows reach a node's output without a stateful operator."""
    if node.state is not None:
        return ()
    below = tuple(scan for child in node.inputs for scan in unkept_scans(child))
    return (node,) if isinstance(node, Scan) else below
