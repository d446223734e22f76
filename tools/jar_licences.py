"""Copy licences and notices out of third-party jars.

A jar without a licence text needs a line in `licences/jars.toml`. The build stops at a jar that has
neither.
"""

from __future__ import annotations

import re
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
_KNOWN = Path(__file__).with_name("licences")
_TEXT = re.compile(r"(?:META-INF/)?(?P<name>(?:LICEN[CS]E|NOTICE|COPYING)[^/]*)", re.IGNORECASE)
_NAME = re.compile(r"(?P<artifact>.+?)-\d[^/]*\.jar")


class LicenceMissingError(Exception):
    """A jar without a recorded licence."""


def copy_licences(jars: list[Path], into: Path) -> None:
    """Write `<jar>/LICENSE` and similar files, one folder per jar.

    Raises:
        LicenceMissingError: a jar contains no licence and has no line in `jars.toml`.
    """
    for jar in jars:
        texts = _own_texts(jar)
        if not any("notice" not in name.lower() for name in texts):
            texts["LICENSE"] = _known_text(jar)
        folder = into / jar.stem
        folder.mkdir(parents=True)
        for name, text in texts.items():
            (folder / name).write_bytes(text)


def _own_texts(jar: Path) -> dict[str, bytes]:
    """Return the licence texts at the top level of a jar or in its META-INF, by name."""
    with zipfile.ZipFile(jar) as archive:
        matches = (_TEXT.fullmatch(name) for name in sorted(archive.namelist()))
        return {match["name"]: archive.read(match.string) for match in matches if match}


def _known_text(jar: Path) -> bytes:
    table = tomllib.loads((_KNOWN / "jars.toml").read_text(encoding="utf-8"))
    named = _NAME.fullmatch(jar.name)
    entry = table.get(named["artifact"]) if named else None
    if entry is None:
        message = f"{jar.name} carries no licence: add a line to {_KNOWN / 'jars.toml'}"
        raise LicenceMissingError(message)
    licence = entry["licence"]
    if licence == "Apache-2.0":
        return (ROOT / "LICENSE").read_bytes()
    text = (_KNOWN / f"{licence}.txt").read_text(encoding="utf-8")
    return f"{licence}\n\n{entry['copyright']}\n\n{text}".encode()
