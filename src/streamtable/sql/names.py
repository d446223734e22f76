"""Names of catalog objects."""

from __future__ import annotations

#: A possibly qualified name: `t`, `db.t` or `catalog.db.t`, one part each.
Name = tuple[str, ...]
