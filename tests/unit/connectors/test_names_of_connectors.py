"""Code outside `connectors` names no connector: knowledge of a connector stays in its folder."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import streamtable

_ROOT = Path(streamtable.__file__).parent
#: Packages whose purpose is one connector: a local broker, the demo, test tools, job files.
_PACKAGES = {"connectors", "demo", "devbroker", "ingest", "testing"}
#: Commands of the CLI about Kafka, and the generator of the reference pages.
_COMMANDS = {"cli/demo.py", "cli/dev.py", "cli/main.py", "cli/reference.py", "cli/txn.py"}
#: Names of connectors. Kafka Connect is another program; Debezium writes its envelope.
_ANYWHERE = re.compile(
    r"(?<![\w.-])(upsert-kafka|kafka(?! Connect)|datagen|blackhole|jdbc)(?![\w-])", re.IGNORECASE
)
#: Java packages of connectors. `_JAVA` also finds the classes of their clients.
_JAVA_ROOMS = {"console", "datagen", "files", "jdbc", "kafka"}
_JAVA = re.compile(
    rf"io\.streamtable\.({'|'.join(sorted(_JAVA_ROOMS))})\b|org\.apache\.kafka|java\.sql\.(Driver|Conn)"
)
_QUOTED = re.compile(r"'(print|filesystem)'|\A(filesystem)\Z")


def _documents(tree: ast.Module) -> set[int]:
    """Return the ids of docstrings, also of attributes. They are prose and may name connectors."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def _names(file: Path) -> Iterator[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    prose = _documents(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in prose:
                if _ANYWHERE.search(text) or _QUOTED.search(text):
                    yield f"{node.lineno}: {text!r}"
            case ast.ImportFrom(module=str(module)) if module.startswith("streamtable.connectors."):
                yield f"{node.lineno}: {module}"
            case ast.Attribute(attr="kafka" | "datagen" | "files" | "jdbc"):
                yield f"{node.lineno}: .{node.attr}"


def _files() -> Iterator[tuple[str, Path]]:
    for file in sorted(_ROOT.rglob("*.py")):
        name = file.relative_to(_ROOT).as_posix()
        if name.partition("/")[0] not in _PACKAGES and name not in _COMMANDS:
            yield name, file


def test_no_file_outside_connectors_names_a_connector() -> None:
    found = {name: list(_names(file)) for name, file in _files()}
    assert {name: lines for name, lines in found.items() if lines} == {}


def _java_files() -> Iterator[tuple[str, Path]]:
    for folder in ("java/io/streamtable", "testkit", "shims"):
        root = _ROOT / "jvm" / folder
        for file in sorted(root.rglob("*.java")):
            yield file.relative_to(root).as_posix(), file


def test_no_java_outside_connectors_uses_a_connector() -> None:
    found = [
        name
        for name, file in _java_files()
        if name.partition("/")[0] not in _JAVA_ROOMS and _JAVA.search(file.read_text("utf-8"))
    ]
    assert found == []


def test_the_search_finds_names() -> None:
    within = {n.partition("/")[0] for n, f in _java_files() if _JAVA.search(f.read_text("utf-8"))}
    assert within == _JAVA_ROOMS
    assert list(_names(_ROOT / "connectors" / "kafka" / "factory.py"))
    assert list(_names(_ROOT / "connectors" / "filesystem" / "source.py"))
