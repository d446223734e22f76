"""Helpers for sessions that use a real schema registry, without Spark."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

from streamtable.session import Session

if TYPE_CHECKING:
    from collections.abc import Mapping


def register(
    url: str,
    subject: str,
    schema: Any,
    kind: str = "AVRO",
    references: tuple[Mapping[str, Any], ...] = (),
) -> int:
    """Register a schema, given as text or as JSON, and return its id."""
    text = schema if isinstance(schema, str) and kind == "PROTOBUF" else json.dumps(schema)
    body = {"schema": text, "schemaType": kind, "references": list(references)}
    request = urllib.request.Request(  # noqa: S310
        f"{url}/subjects/{subject}/versions",
        json.dumps(body).encode(),
        {"Content-Type": "application/vnd.schemaregistry.v1+json"},
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        return int(json.load(answer)["id"])


def answer(session: Session, statement: str) -> list[tuple[str, ...]]:
    """Run a SHOW or DESCRIBE statement and return its rows."""
    session.load(statement, "job.sql")
    return [tuple(row) for row in session.answers[-1].rows]


def columns(session: Session, table: str) -> list[str]:
    """Return the columns of a table as `name TYPE`, with `!` if NOT NULL and `*` if in the key."""
    rows = answer(session, f"DESCRIBE {table}")
    return [f"{r[0]} {r[1]}{'!' if r[2] == 'FALSE' else ''}{'*' if r[3] else ''}" for r in rows]
