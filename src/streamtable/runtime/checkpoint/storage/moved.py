"""Make a checkpoint valid at its place: a directory may be moved or copied between two runs.

Spark's metadata of a stateful operator names the files of its state schemas with their full paths.
At another place these files would be missing, or belong to the original of a copy.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from streamtable.core.checkpoint_path import CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.checkpoint.storage.torn_files import is_torn
from streamtable.runtime.checkpoint.storage.whole_files import write_whole

_SCHEMAS = "_stateSchema"


def adopt(query: CheckpointPath) -> None:
    """Point the metadata of a query's operators to the schema files in its own directory.

    Args:
        query: checkpoint directory of the query, which is locked; it may be missing.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE if a file cannot be read or written.
    """
    for file in operator_metadata(query):
        if not file.name.isdigit() or is_torn(file):
            continue
        try:
            _adopt(file, query / "moved.tmp")
        except (OSError, ValueError, KeyError) as error:
            raise StreamtableError(
                Condition.CHECKPOINT_UNREADABLE, checkpoint=query, reason=f"'{file}': {error}"
            ) from error


def operator_metadata(query: CheckpointPath) -> Iterator[CheckpointPath]:
    """List the files with the metadata of a query's stateful operators."""
    state = query / "state"
    for operator in state.iterdir() if state.is_dir() else ():
        folder = operator / "_metadata" / "v2"
        if folder.is_dir():
            yield from folder.iterdir()


def _adopt(file: CheckpointPath, draft: CheckpointPath) -> None:
    # The draft is outside the directory of the file, because Spark reads all names there.
    version, _, text = file.read_text(encoding="utf-8").partition("\n")
    found = json.loads(text)
    operator = file.parent.parent.parent
    moved = False
    for store in found["stateStoreInfo"]:
        paths = store.get("stateSchemaFilePaths", [])
        here = [_at(operator, path) for path in paths]
        moved |= here != paths
        store["stateSchemaFilePaths"] = here
    if moved:
        # Hadoop would check the new content against the checksum of the old content.
        (file.parent / f".{file.name}.crc").unlink(missing_ok=True)
        write_whole(file, f"{version}\n{json.dumps(found, separators=(',', ':'))}", draft)


def _at(operator: CheckpointPath, path: str) -> str:
    """Return the path of a schema file below the directory of an operator, as Spark writes it."""
    _, found, name = path.rpartition(f"/{_SCHEMAS}/")
    place = f"file:{operator}" if isinstance(operator, Path) else str(operator)
    return f"{place}/{_SCHEMAS}/{name}" if found else path
