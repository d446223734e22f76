"""What a checkpoint remembers of each partition's watermark.

Spark remembers the watermark of a query, which is the least of its partitions', but not those.
After a restart a partition without new records would hold the watermark back until it has some.
What stands here may be ahead of the last batch that was committed: that batch is run again over
the same records, so that its partitions come as far anyway.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress

from streamtable.runtime.checkpoint import Checkpoint

_FILE = "watermarks.json"


def read_watermarks(checkpoint: Checkpoint) -> dict[str, int]:
    """What earlier runs have seen: "query/scan/topic/partition" -> milliseconds."""
    with suppress(FileNotFoundError):
        text = (checkpoint.directory / _FILE).read_text(encoding="utf-8")
        return {str(name): int(value) for name, value in json.loads(text).items()}
    return {}


def keep_watermarks(checkpoint: Checkpoint, seen: Mapping[str, int]) -> None:
    """Writes down what is seen now, where it is more than before.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE where it cannot be written.
    """
    if seen and seen != read_watermarks(checkpoint):
        checkpoint.write(_FILE, json.dumps(dict(sorted(seen.items())), indent=1))
