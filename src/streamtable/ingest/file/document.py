"""Parse a YAML job file into a tree of texts with positions, and substitute `${variables}`.

Only plain YAML is supported: mappings, lists and scalars. A scalar keeps the text of the file, so
that a password such as `007` or `yes` keeps its characters. Variables are substituted after the
YAML is parsed, so that a value cannot change the structure of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import yaml

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.sql.lexer.variables import value_of

_VARIABLE = re.compile(r"\$\{([^{}]*)\}")
#: The limit of nodes, far above the needs of any job. Aliases of aliases can make a short file a
#: huge tree.
_MOST_NODES = 20_000
_NULLS = ("", "~", "null", "Null", "NULL")
_PLAIN = "tag:yaml.org,2002:"
#: Tags that YAML assigns to plain values.
_TAGS = frozenset(
    _PLAIN + kind
    for kind in ("str", "int", "float", "bool", "null", "timestamp", "value", "map", "seq")
)


@dataclass(frozen=True)
class Text:
    """A scalar; None if it is empty."""

    text: str | None
    at: Span


@dataclass(frozen=True)
class Listed:
    """A list."""

    items: tuple[Node, ...]
    at: Span


@dataclass(frozen=True)
class Mapped:
    """A mapping: key -> the key's position and its value."""

    items: Mapping[str, tuple[Span, Node]]
    at: Span


Node: TypeAlias = Text | Listed | Mapped


def parse(text: str, file: str, variables: Mapping[str, str]) -> Mapped:
    """Parse a job file into a tree.

    Args:
        text: the text of the file.
        file: its name, for positions.
        variables: the values of `--var`.

    Raises:
        StreamtableError: JOB_FILE_INVALID if the text is not YAML or not a mapping,
            DUPLICATE_OPTION, UNKNOWN_VARIABLE, FILE_UNREADABLE.
    """
    tree = read_tree(text, file, variables, Kind(Condition.JOB_FILE_INVALID, "source", "sink"))
    if not isinstance(tree, Mapped):
        raise StreamtableError(
            Condition.JOB_FILE_INVALID,
            at=tree.at,
            reason="a job file is a mapping with 'source' and 'sink'",
        )
    return tree


@dataclass(frozen=True)
class Kind:
    """A kind of YAML file: the condition of its errors, and the first two keys of a usual file."""

    invalid: Condition
    first: str
    second: str


def read_tree(text: str, file: str, variables: Mapping[str, str] | None, kind: Kind) -> Node:
    """Parse a YAML file of any kind into a tree.

    Args:
        text: the text of the file.
        file: its name, for positions.
        variables: the values of `${variables}`; None keeps the text of each scalar as written.
        kind: for messages.

    Raises:
        StreamtableError: the kind's condition if the text is empty or not plain YAML;
            DUPLICATE_OPTION, UNKNOWN_VARIABLE.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise _invalid(error, file, kind) from None
    if root is None:
        raise StreamtableError(
            kind.invalid,
            at=Span(file, 1, 1),
            reason="the file is empty",
            hint=f"begin with '{kind.first}:' and '{kind.second}:'",
        )
    return _Reader(file, variables, kind.invalid).node(root)


class _Reader:
    """Converts YAML's nodes into nodes with positions."""

    def __init__(self, file: str, variables: Mapping[str, str] | None, invalid: Condition) -> None:
        self._file = file
        self._variables = variables
        self._invalid = invalid
        self._open: set[int] = set()
        self._nodes = 0

    def node(self, node: yaml.Node) -> Node:
        at = self._at(node)
        self._nodes += 1
        if self._nodes > _MOST_NODES:
            raise StreamtableError(
                self._invalid, at=at, reason=f"it has more than {_MOST_NODES} values"
            )
        if node.tag not in _TAGS:
            raise StreamtableError(
                self._invalid,
                at=at,
                reason=f"tag '{node.tag.replace(_PLAIN, '!!')}' is not allowed",
                hint="write a plain text, list or mapping",
            )
        if id(node) in self._open:
            raise StreamtableError(
                self._invalid, at=at, reason="an alias stands inside its own anchor"
            )
        self._open.add(id(node))
        try:
            return self._inside(node, at)
        finally:
            self._open.remove(id(node))

    def _inside(self, node: yaml.Node, at: Span) -> Node:
        if isinstance(node, yaml.ScalarNode):
            empty = node.style is None and node.value in _NULLS
            return Text(None if empty else self._filled(node.value, at), at)
        if isinstance(node, yaml.SequenceNode):
            return Listed(tuple(self.node(item) for item in node.value), at)
        assert isinstance(node, yaml.MappingNode)  # noqa: S101 - YAML has three kinds of nodes
        found: dict[str, tuple[Span, Node]] = {}
        for key, value in node.value:
            place = self._at(key)
            if not isinstance(key, yaml.ScalarNode):
                raise StreamtableError(self._invalid, at=place, reason="a key must be a text")
            if key.value in found:
                first = found[key.value][0]
                raise StreamtableError(
                    Condition.DUPLICATE_OPTION,
                    at=place,
                    option=key.value,
                    hint=f"the first one stands in line {first.line}",
                )
            found[key.value] = (place, self.node(value))
        return Mapped(found, at)

    def _filled(self, text: str, at: Span) -> str:
        given = self._variables
        if given is None:
            return text
        return _VARIABLE.sub(lambda match: value_of(match[1].strip(), given, at), text)

    def _at(self, node: yaml.Node) -> Span:
        mark = node.start_mark
        return Span(self._file, mark.line + 1, mark.column + 1)


def _invalid(error: yaml.YAMLError, file: str, kind: Kind) -> StreamtableError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    at = Span(file, mark.line + 1, mark.column + 1) if mark else Span(file, 1, 1)
    reason = getattr(error, "problem", None) or str(error)
    return StreamtableError(
        kind.invalid,
        at=at,
        reason=f"YAML: {reason}",
        hint="indent with blanks, and quote a value that has ': ' or ' #' in it",
    )
