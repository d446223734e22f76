"""Convert spatial values to JSON; source: *MySQL Spatial Data Types Mapping* of Flink CDC's page.

A value consists of four bytes of the SRID, lowest first, and then WKB.
"""

from __future__ import annotations

import json
import struct
from typing import Any

_POINT, _LINE, _POLYGON, _COLLECTION = 1, 2, 3, 7
_NAMES = {
    1: "Point",
    2: "LineString",
    3: "Polygon",
    4: "MultiPoint",
    5: "MultiLineString",
    6: "MultiPolygon",
    7: "GeometryCollection",
}


def to_json(value: bytes) -> str | None:
    """Return the JSON text, such as `{"coordinates":[1,1],"type":"Point","srid":0}`.

    An empty value, which MySQL may store in a column that is NOT NULL, is None.

    Raises:
        ValueError: the bytes are not a geometry.
    """
    if not value:
        return None
    try:
        srid = struct.unpack_from("<I", value)[0]
        geometry, _ = _geometry(value, 4)
    except (struct.error, KeyError, IndexError) as error:
        raise ValueError(value.hex()) from error
    return json.dumps({**geometry, "srid": srid}, separators=(",", ":"))


def _geometry(data: bytes, at: int) -> tuple[dict[str, Any], int]:
    order = "<" if data[at] == 1 else ">"
    kind = struct.unpack_from(order + "I", data, at + 1)[0]
    at += 5
    if kind == _POINT:
        coordinates, at = _points(data, at, order, 1)
        return {"coordinates": coordinates[0], "type": _NAMES[kind]}, at
    count = struct.unpack_from(order + "I", data, at)[0]
    at += 4
    if kind == _LINE:
        points, at = _points(data, at, order, count)
        return {"coordinates": points, "type": _NAMES[kind]}, at
    if kind == _POLYGON:
        rings = []
        for _ in range(count):
            size = struct.unpack_from(order + "I", data, at)[0]
            ring, at = _points(data, at + 4, order, size)
            rings.append(ring)
        return {"coordinates": rings, "type": _NAMES[kind]}, at
    parts = []
    for _ in range(count):
        part, at = _geometry(data, at)
        parts.append(part)
    if kind == _COLLECTION:
        return {"geometries": parts, "type": _NAMES[kind]}, at
    return {"coordinates": [part["coordinates"] for part in parts], "type": _NAMES[kind]}, at


def _points(data: bytes, at: int, order: str, count: int) -> tuple[list[list[float]], int]:
    numbers = struct.unpack_from(f"{order}{count * 2}d", data, at)
    plain = [int(n) if n.is_integer() else n for n in numbers]
    return [plain[i : i + 2] for i in range(0, len(plain), 2)], at + count * 16
