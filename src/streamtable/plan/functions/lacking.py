"""Scalar functions that Flink 2.2 has and we do not yet: refused by name, never as unknown."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.plan.functions.model import Category, Function

_NAMES: Mapping[Category, tuple[str, ...]] = {
    Category.TEMPORAL: (
        "CURRENT_WATERMARK",
        "SOURCE_WATERMARK",
    ),
    Category.VARIANT: ("PARSE_JSON", "TRY_PARSE_JSON"),
    Category.CONSTRUCTION: ("OBJECT_OF",),
    Category.MODIFICATION: ("OBJECT_UPDATE",),
    Category.AUXILIARY: (
        "CURRENT_CATALOG",
        "CURRENT_DATABASE",
        "HOP",
        "HOP_END",
        "HOP_PROCTIME",
        "HOP_ROWTIME",
        "HOP_START",
        "ML_PREDICT",
        "SESSION",
        "SESSION_END",
        "SESSION_PROCTIME",
        "SESSION_ROWTIME",
        "SESSION_START",
        "TUMBLE",
        "TUMBLE_END",
        "TUMBLE_PROCTIME",
        "TUMBLE_ROWTIME",
        "TUMBLE_START",
    ),
}

LACKING = tuple(Function(name, category) for category, names in _NAMES.items() for name in names)
