"""Create a project from the templates."""

from __future__ import annotations

import re
from pathlib import Path

from streamtable import __version__
from streamtable.core.errors import Condition, StreamtableError

_TEMPLATES = Path(__file__).with_name("templates")
_COMMON = "common"
#: Names of the templates that a user can choose.
TEMPLATES = tuple(sorted(p.name for p in _TEMPLATES.iterdir() if p.is_dir() and p.name != _COMMON))
#: A name is part of file names and topics.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
#: File of a template -> path in the project.
_PATHS = {
    "job.sql": "@NAME@.sql",
    "job.test.yaml": "@NAME@.test.yaml",
    "readme.md": "README.md",
    "ci.yml": ".github/workflows/test.yml",
    "gitignore": ".gitignore",
}


def create_project(name: str, parent: Path, template: str) -> Path:
    """Create the folder of a project, and return it.

    Args:
        name: the name of the folder, the script and its topic; it matches `NAME`.
        parent: the folder in which the project is created.
        template: one of `TEMPLATES`.

    Raises:
        StreamtableError: ALREADY_EXISTS for a file, or a folder that is not empty.
    """
    folder = parent / name
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StreamtableError(
            Condition.ALREADY_EXISTS, what=folder, hint="choose another name, or an empty folder"
        )
    for source in (_COMMON, template):
        for file in sorted((_TEMPLATES / source).iterdir()):
            target = folder / _PATHS[file.name].replace("@NAME@", name)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text(encoding="utf-8").replace("@NAME@", name)
            text = text.replace("@VERSION@", __version__)
            target.write_text(text, encoding="utf-8")
    return folder
