"""Options of every table with a watermark: `scan.watermark.*`.

Flink's `FactoryUtil` accepts them for every connector. Source of the rules: *Watermark* in Flink's
*CREATE statements* page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from streamtable.core.errors import Span
from streamtable.core.option_kinds import DURATION, NOT_EMPTY, choice
from streamtable.core.options import Given, Option, OptionSet

_PREFIX = "scan.watermark."
_ALIGNMENT = "'execution.max-lead' limits the skew between INSERTs"


class EmitStrategy(Enum):
    """When a source of Flink emits its watermark."""

    ON_PERIODIC = "on-periodic"
    ON_EVENT = "on-event"


SCAN_IDLE_TIMEOUT = Option(
    "scan.watermark.idle-timeout",
    DURATION,
    doc="Time after which a partition of the table without records is idle and no longer holds the"
    " watermark back; 0 disables idleness. Default: `table.exec.source.idle-timeout`.",
)
OPTIONS = OptionSet(
    "a table with a watermark",
    (
        SCAN_IDLE_TIMEOUT,
        Option(
            "scan.watermark.emit.strategy",
            choice(EmitStrategy),
            doc="When the watermark advances.",
            no_effect="the watermark advances at the end of each batch",
        ),
        Option(
            "scan.watermark.alignment.group",
            NOT_EMPTY,
            doc="Name of a group of sources with aligned watermarks.",
            no_effect=_ALIGNMENT,
        ),
        Option(
            "scan.watermark.alignment.max-drift",
            DURATION,
            doc="Maximum difference of the watermarks in a group.",
            no_effect=_ALIGNMENT,
        ),
        Option(
            "scan.watermark.alignment.update-interval",
            DURATION,
            doc="Interval at which the sources of a group report their watermarks.",
            no_effect=_ALIGNMENT,
        ),
    ),
)


def split(given: Mapping[str, Given]) -> tuple[dict[str, Given], dict[str, Given]]:
    """Split a WITH clause into the options of the watermark and those of the connector."""
    own = {key: value for key, value in given.items() if key.startswith(_PREFIX)}
    return own, {key: value for key, value in given.items() if key not in own}


def notices(given: Mapping[str, Given], *, watermark: bool) -> Iterator[str]:
    """Yield a line for each option of a WITH clause that has no effect.

    Args:
        given: the WITH clause.
        watermark: whether the table declares a watermark.
    """
    yield from OPTIONS.notices(given)
    found = given.get(SCAN_IDLE_TIMEOUT.key)
    if found is not None and not watermark:
        yield f"{_place(found.at)}option '{SCAN_IDLE_TIMEOUT.key}' has no effect without WATERMARK"


def _place(at: Span | None) -> str:
    return f"{at}: " if at else ""
