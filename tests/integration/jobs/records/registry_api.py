"""A plain HTTP client of the schema registry."""

from __future__ import annotations

import io
import json
import urllib.request
from typing import Any

import fastavro


class Api:
    """Client of a schema registry.

    Args:
        url: address of the registry.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return the parsed answer of a GET, or of a POST of a body."""
        data = json.dumps(body).encode() if body else None
        headers = {"Content-Type": "application/vnd.schemaregistry.v1+json"}
        request = urllib.request.Request(self.url + path, data, headers)  # noqa: S310
        with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
            return json.load(answer)

    def register(self, subject: str, schema: Any) -> int:
        """Register a schema; return its id."""
        body = {"schema": json.dumps(schema)}
        return int(self.ask(f"/subjects/{subject}/versions", body)["id"])

    def read(self, data: bytes) -> Any:
        """Decode a record in Avro with the schema of its id."""
        schema = self.ask(f"/schemas/ids/{int.from_bytes(data[1:5], 'big')}")["schema"]
        parsed = fastavro.parse_schema(json.loads(schema))
        return fastavro.schemaless_reader(io.BytesIO(data[5:]), parsed, None)


def header(schema_id: int) -> bytes:
    """Return the header of a record with a schema: the magic byte and the schema id."""
    return b"\0" + schema_id.to_bytes(4, "big")
