"""Ends of bounded scans: determined once for a run, and some of them kept for later runs.

The committed offsets of a consumer group move, because the job commits its own progress. A restart
that determined the ends again would end a scan too early. Flink keeps the end of a split in its
checkpoints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress

from streamtable.connector_api.endpoints import source_of
from streamtable.connector_api.source import Source, Split
from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.table import Table
from streamtable.jvm.bridge import Bridge
from streamtable.runtime.checkpoint.storage.whole_files import write_file

#: File in a checkpoint: table -> bound -> split -> end.
FILE = "scan-ends.json"

_Ends = Mapping[str, Mapping[str, Mapping[Split, int]]]


class ScanEnds:
    """The sources of one run, with the ends of their scans.

    Args:
        directory: the checkpoint directory.
        bridge: the JVM side.
    """

    def __init__(self, directory: CheckpointPath, bridge: Bridge) -> None:
        self._file = directory / FILE
        self._bridge = bridge
        self._known = _read(self._file)
        self._sources: list[tuple[Source, Source]] = []
        self._kept: dict[str, dict[str, Mapping[Split, int]]] = {}

    def source_of(self, table: Table) -> Source:
        """Return the source of a table; a bounded one has its ends, the same in the whole run.

        Raises:
            StreamtableError: an error of the source.
        """
        source = source_of(table)
        for declared, ended in self._sources:
            if declared == source:
                return ended
        ended = self._ended(source)
        self._sources.append((source, ended))
        return ended

    def keep(self) -> None:
        """Store the ends that later runs need. Call this before a query of the run starts.

        Raises:
            StreamtableError: CHECKPOINT_UNREADABLE if the file cannot be written.
        """
        read = {source.table for source, _ in self._sources}
        others = {table: ends for table, ends in self._known.items() if table not in read}
        found = {**others, **self._kept}
        if found != self._known:
            write_file(self._file, json.dumps(dict(sorted(found.items())), indent=1))

    def _ended(self, source: Source) -> Source:
        bound = source.kept_bound
        known = None if bound is None else self._known.get(source.table, {}).get(bound)
        ends = source.scan_ends(self._bridge) if known is None else known
        if ends is None:
            return source
        if bound is not None:
            self._kept.setdefault(source.table, {})[bound] = ends
        return source.ended_at(ends)


def _read(file: CheckpointPath) -> _Ends:
    text = "{}"
    with suppress(FileNotFoundError):
        text = file.read_text(encoding="utf-8")
    try:
        found: _Ends = json.loads(text)
    except ValueError as error:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=file.parent,
            reason=f"'{file}' is not complete, probably after a loss of power",
            hint="start the job with a new --checkpoint directory; or delete the file: the scans"
            " then end at the offsets that their groups have committed by now",
        ) from error
    return found
