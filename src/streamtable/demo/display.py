"""Display of the result: a table updated in place, or plain lines in a pipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

#: Rows of the table by key, as in `FoldedTopic`.
Rows = Mapping[tuple[Any, ...], Mapping[str, Any]]


def by_views(rows: Rows) -> list[Mapping[str, Any]]:
    """Sort the regions by page views, in descending order."""
    return sorted(rows.values(), key=lambda row: (-row["pv"], row["user_region"]))


def counted(rows: Rows) -> int:
    """Return the number of page views in the result: each is in the pv of exactly one region."""
    return sum(row["pv"] for row in rows.values())


def result_table(rows: Rows) -> Table:
    """Return the result as a table with one row per region."""
    table = Table(title="pageviews_per_region")
    table.add_column("user_region", min_width=16)
    table.add_column("pv", justify="right", min_width=12)
    table.add_column("uv", justify="right", min_width=10)
    for row in by_views(rows):
        table.add_row(row["user_region"], f"{row['pv']:,}", f"{row['uv']:,}")
    return table


def result_line(rows: Rows) -> str:
    """Return the result in one line: `Asia 1,200/340` is a region's pv and uv."""
    return "  ".join(f"{r['user_region']} {r['pv']:,}/{r['uv']:,}" for r in by_views(rows))
