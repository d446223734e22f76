"""Watermark of each split, stored in the checkpoint.

Spark stores the watermark of a query, which is the minimum over its splits, but not the watermarks
of the splits. After a restart, a split without new records would hold the watermark back until its
next record.
The file is never ahead of the newest commit: real-time mode may replay a batch with an earlier end,
and the later rows of the batch would then be late.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress

from streamtable.runtime.checkpoint.checkpoint import Checkpoint

#: File in a checkpoint.
FILE = "watermarks.json"


def read_watermarks(checkpoint: Checkpoint) -> dict[str, int]:
    """Return the watermarks of earlier runs: "query/scan/topic/partition" -> milliseconds."""
    # A file that a power failure has emptied counts as missing.
    with suppress(FileNotFoundError, ValueError):
        text = (checkpoint.directory / FILE).read_text(encoding="utf-8")
        return {str(name): int(value) for name, value in json.loads(text).items()}
    return {}


def keep_watermarks(checkpoint: Checkpoint, seen: Mapping[str, int]) -> None:
    """Store the current watermarks if they have changed.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE if the file cannot be written.
    """
    if seen and seen != read_watermarks(checkpoint):
        checkpoint.write(FILE, json.dumps(dict(sorted(seen.items())), indent=1))
