"""Parser of .proto texts: messages with their fields, for the columns of a registered schema.

It reads the language of proto2 and proto3 (protobuf.dev, *Language Specification*). Options,
services and extensions are skipped, because they do not change the fields of a message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<word>\.?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
    | (?P<number>[-+]?[0-9][0-9A-Za-z.+-]*)
    | (?P<symbol>[-+{}()\[\]<>=;,:/])
    """,
    re.VERBOSE | re.DOTALL,
)
_LABELS = ("optional", "required", "repeated")


@dataclass(frozen=True)
class ProtoField:
    """A field of a message.

    Attributes:
        type: the name of its type as written; of a map, the type of the values.
        label: `optional`, `required`, `repeated` or empty.
        key: the type of the keys of a map; None for other fields.
        in_oneof: whether the field is a member of a oneof.
    """

    name: str
    type: str
    label: str = ""
    key: str | None = None
    in_oneof: bool = False


@dataclass
class ProtoFile:
    """A parsed text.

    Attributes:
        syntax: `proto2` or `proto3`.
        package: the prefix of all names; empty if there is none.
        imports: the imported files.
        messages: full name -> fields, of nested messages, too; the order is that of the text.
        enums: full names.
    """

    syntax: str = "proto2"
    package: str = ""
    imports: list[str] = field(default_factory=list)
    messages: dict[str, list[ProtoField]] = field(default_factory=dict)
    enums: set[str] = field(default_factory=set)


def parse_proto(text: str) -> ProtoFile:
    """Parse a .proto text.

    Raises:
        ValueError: the text is malformed, or uses editions or groups.
    """
    return _Parser(text).file()


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._file = ProtoFile()

    def file(self) -> ProtoFile:
        while self._at < len(self._tokens):
            match self._take():
                case "syntax":
                    self._expect("=")
                    self._file.syntax = self._take()[1:-1]
                    self._expect(";")
                case "package":
                    self._file.package = self._take()
                    self._expect(";")
                case "import":
                    name = self._take()
                    name = self._take() if name in ("public", "weak") else name
                    self._file.imports.append(name[1:-1])
                    self._expect(";")
                case "message":
                    self._message(self._file.package)
                case "enum":
                    self._enum(self._file.package)
                case "option" | "service" | "extend":
                    self._skip_statement()
                case "edition":
                    msg = "it uses an edition of protobuf instead of proto2 or proto3"
                    raise ValueError(msg)
                case ";":
                    pass
                case other:
                    raise _malformed(other)
        return self._file

    def _message(self, outer: str) -> None:
        name = _joined(outer, self._take())
        fields = self._file.messages[name] = []
        self._expect("{")
        while (word := self._take()) != "}":
            match word:
                case "message" if self._peek(1) == "{":
                    self._message(name)
                case "enum" if self._peek(1) == "{":
                    self._enum(name)
                case "oneof" if self._peek(1) == "{":
                    self._oneof(fields)
                case "option" | "reserved" | "extensions" | "extend" if self._peek(1) != "=":
                    self._skip_statement()
                case ";":
                    pass
                case _:
                    fields.append(self._field(word))

    def _oneof(self, fields: list[ProtoField]) -> None:
        self._take()
        self._expect("{")
        while (word := self._take()) != "}":
            if word == "option" and self._peek(1) != "=":
                self._skip_statement()
            elif word != ";":
                fields.append(self._field(word, in_oneof=True))

    def _field(self, first: str, *, in_oneof: bool = False) -> ProtoField:
        label = first if first in _LABELS else ""
        kind = self._take() if label else first
        key = None
        if kind == "group":
            msg = "it has a group"
            raise ValueError(msg)
        if kind == "map" and self._peek() == "<":
            self._take()
            key = self._take()
            self._expect(",")
            kind = self._take()
            self._expect(">")
        name = self._take()
        self._expect("=")
        self._skip_statement()
        return ProtoField(name, kind, label, key, in_oneof)

    def _enum(self, outer: str) -> None:
        self._file.enums.add(_joined(outer, self._take()))
        self._skip_statement()

    def _skip_statement(self) -> None:
        """Skip the rest of a statement: up to `;`, or to the end of its block.

        The value of a field's option in `[...]` may be a block, too.
        """
        depth = 0
        while True:
            found = self._take()
            depth += (found in "{[") - (found in "}]")
            if depth == 0 and found in (";", "}"):
                # An option whose value is in braces ends with a semicolon.
                if found == "}" and self._peek() == ";":
                    self._take()
                return

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        if not token:
            msg = "the text ends too early"
            raise ValueError(msg)
        self._at += 1
        return token

    def _expect(self, wanted: str) -> None:
        found = self._take()
        if found != wanted:
            raise _malformed(found)


def _tokens(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _malformed(text[at])
        if match.lastgroup != "skip":
            found.append(match[0])
        at = match.end()
    return found


def _joined(outer: str, name: str) -> str:
    return f"{outer}.{name}" if outer else name


def _malformed(token: str) -> ValueError:
    return ValueError(f"it is no valid .proto text at '{token}'")
