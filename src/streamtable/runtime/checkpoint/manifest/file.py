"""The file `streamtable.json` of a checkpoint: read, checked and written as a whole."""

from __future__ import annotations

import json
import shlex
import uuid

from streamtable.core.checkpoint_path import MANIFEST, CheckpointPath
from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.checkpoint.manifest.content import Manifest, layout_difference
from streamtable.runtime.checkpoint.storage.whole_files import write_file
from streamtable.runtime.status import lock as status_lock
from streamtable.runtime.status.document import DRAFT, FILE

#: Files that a job writes before the manifest.
_BEFORE_MANIFEST = (status_lock.FILE, "streamtable.tmp", "lease", ".drafts", FILE, DRAFT)

_REBUILD = (
    "start the changed job with a new --checkpoint directory; it rebuilds its state from the topics"
)


def read_manifest(path: CheckpointPath, directory: str, stale_keys: str = "") -> Manifest | None:
    """Return the manifest of a checkpoint; None if the directory has no job yet.

    Args:
        path: the checkpoint directory.
        directory: its name, for messages.
        stale_keys: end of a hint that proposes a new directory; see `stale_keys_hint`.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE, or CHECKPOINT_MISMATCH for another layout.
    """
    manifest = path / MANIFEST
    if not manifest.exists():
        strangers = [p.name for p in path.iterdir() if p.name not in _BEFORE_MANIFEST]
        if strangers:
            raise StreamtableError(
                Condition.CHECKPOINT_UNREADABLE,
                checkpoint=directory,
                reason=f"it contains '{strangers[0]}', which is not from a streamtable job",
                hint="use an empty directory",
            )
        return None
    try:
        data = json.loads(manifest.read_text(encoding="utf-8"))
        difference = layout_difference(data)
        if difference is None:
            return Manifest.from_json(data, uuid.uuid4().hex)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StreamtableError(
            Condition.CHECKPOINT_UNREADABLE,
            checkpoint=directory,
            reason=error,
            hint=_REBUILD + stale_keys,
        ) from error
    raise mismatch(directory, difference, stale_keys)


def write_manifest(path: CheckpointPath, manifest: Manifest) -> None:
    """Write the manifest of a checkpoint if it differs from the present one.

    Raises:
        StreamtableError: CHECKPOINT_UNREADABLE if the manifest cannot be written.
    """
    target, data = path / MANIFEST, manifest.to_json()
    if target.exists() and json.loads(target.read_text(encoding="utf-8")) == data:
        return
    write_file(target, json.dumps(data, indent=2))


def mismatch(
    directory: str, difference: str, stale_keys: str, *, upgrade: bool = False
) -> StreamtableError:
    """Return the error of a script that cannot continue the checkpoint.

    Args:
        directory: the checkpoint directory, as the user writes it.
        difference: from the queries of the checkpoint, in words.
        stale_keys: end of a hint that proposes a new directory; see `stale_keys_hint`.
        upgrade: whether `streamtable upgrade` can continue the checkpoint.
    """
    command = f"streamtable upgrade FILE --checkpoint {shlex.quote(directory)} --plan"
    proposed = f"run: {command}; or " if upgrade else ""
    return StreamtableError(
        Condition.CHECKPOINT_MISMATCH,
        checkpoint=directory,
        difference=difference,
        hint=proposed + _REBUILD + stale_keys,
    )
