"""A test file before its script is known: keys, cases, steps and unread rows with positions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.text_files import read_text
from streamtable.ingest.file.document import Kind, Listed, Mapped, Node, Text, read_tree

_KIND = Kind(Condition.TEST_FILE_INVALID, "script", "cases")
_FILE_KEYS = ("script", "variables", "settings", "cases")
_CASE_KEYS = ("name", "given", "expect")
_EXPECT_KEYS = ("rows", "changes")
_ADVANCE = "advance"
_END = "end"


@dataclass(frozen=True)
class RawRows:
    """A step with rows: table -> place of its name, and its rows."""

    tables: Mapping[str, tuple[Span, tuple[Node, ...]]]


class Clock(Enum):
    """The time that a step advances; the value is the key in the file."""

    WATERMARK = "watermark"
    PROCESSING = "clock"


@dataclass(frozen=True)
class Advance:
    """A step that advances time to a moment, as text; or to the end of the input."""

    clock: Clock
    moment: str | None
    at: Span


Step = RawRows | Advance


@dataclass(frozen=True)
class RawExpected:
    """The expected table or changelog; None if the file does not have it."""

    rows: tuple[Node, ...] | None
    changes: tuple[Node, ...] | None


@dataclass(frozen=True)
class RawCase:
    """One case; `expect` is table -> place of its name, and its expectation."""

    name: str
    at: Span
    steps: tuple[Step, ...]
    expect: Mapping[str, tuple[Span, RawExpected]]


@dataclass(frozen=True)
class CaseFile:
    """A test file.

    Attributes:
        path: the test file.
        script: the path of its script.
        script_at: the place that names the script.
        variables: values of `${name}` in the script.
        settings: session settings that override those of the script.
    """

    path: Path
    script: Path
    script_at: Span
    variables: Mapping[str, str]
    settings: Mapping[str, tuple[Span, str]]
    cases: tuple[RawCase, ...]


def invalid(at: Span, reason: str, hint: str | None = None) -> StreamtableError:
    """Return TEST_FILE_INVALID at a place."""
    return StreamtableError(Condition.TEST_FILE_INVALID, at=at, reason=reason, hint=hint)


def read_file(path: Path) -> CaseFile:
    """Read a test file, without its script.

    Raises:
        StreamtableError: FILE_UNREADABLE, TEST_FILE_INVALID or DUPLICATE_OPTION.
    """
    text = read_text(path, "give the path of a test file")
    root = _mapped(read_tree(text, str(path), None, _KIND), "a test file")
    _check_keys(root, "a test file", _FILE_KEYS, required=("script", "cases"))
    script_at, script = root.items["script"]
    name = _text(script, "'script'")
    cases = tuple(_case(item) for item in _items(root.items["cases"][1], "'cases'"))
    if not cases:
        raise invalid(root.items["cases"][0], "'cases' is empty", "write at least one case")
    _check_names(cases)
    variables = _texts(root, "variables")
    return CaseFile(
        path,
        path.parent / name,
        script_at,
        {key: value for key, (_, value) in variables.items()},
        _texts(root, "settings"),
        cases,
    )


def _check_names(cases: Iterable[RawCase]) -> None:
    first: dict[str, Span] = {}
    for case in cases:
        if case.name in first:
            line = first[case.name].line
            raise invalid(case.at, f"two cases have the name '{case.name}'; see line {line}")
        first[case.name] = case.at


def _case(node: Node) -> RawCase:
    item = _mapped(node, "a case")
    _check_keys(item, "a case", _CASE_KEYS, required=("name", "given", "expect"))
    name = _text(item.items["name"][1], "'name'")
    at, expect = item.items["expect"]
    wanted = _mapped(expect, "'expect'").items
    if not wanted:
        raise invalid(at, f"'expect' of case '{name}' is empty", "name a table and its rows")
    return RawCase(
        name,
        node.at,
        _steps(item.items["given"][1]),
        {table: (place, _expected(table, value)) for table, (place, value) in wanted.items()},
    )


def _steps(given: Node) -> tuple[Step, ...]:
    if isinstance(given, Text) and given.text is None:
        return ()
    if isinstance(given, Mapped):
        return (_rows(given),)
    steps = tuple(_step(item) for item in _items(given, "'given'"))
    for step in steps[:-1]:
        if isinstance(step, Advance) and step.moment is None:
            raise invalid(
                step.at, "'advance: end' is the end of the input", "make it the last step"
            )
    return steps


def _step(node: Node) -> Step:
    item = _mapped(node, "a step of 'given'")
    if _ADVANCE not in item.items or isinstance(item.items[_ADVANCE][1], Listed):
        return _rows(item)
    at, value = item.items[_ADVANCE]
    if len(item.items) > 1:
        raise invalid(at, "a step has 'advance' and tables", "write them as two steps")
    if isinstance(value, Text) and value.text == _END:
        return Advance(Clock.WATERMARK, None, at)
    if not isinstance(value, Mapped) or len(value.items) != 1:
        raise invalid(
            at,
            "'advance' is neither 'end' nor one of 'watermark' and 'clock' with a time",
            "write for instance advance: {watermark: '2026-03-01 00:10:00'}",
        )
    names = tuple(clock.value for clock in Clock)
    _check_keys(value, "'advance'", names)
    ((name, (place, moment)),) = value.items.items()
    return Advance(Clock(name), _text(moment, f"'{name}'"), place)


def _rows(item: Mapped) -> RawRows:
    return RawRows(
        {
            table: (at, _items(value, f"the rows of {table}"))
            for table, (at, value) in item.items.items()
        }
    )


def _expected(table: str, node: Node) -> RawExpected:
    if isinstance(node, Listed):
        return RawExpected(node.items, None)
    what = f"the expectation of {table}"
    item = _mapped(node, what)
    _check_keys(item, what, _EXPECT_KEYS)
    if not item.items:
        raise invalid(node.at, f"{what} is empty", "write 'rows:' or 'changes:'")
    rows, changes = (
        _items(item.items[key][1], f"'{key}' of {table}") if key in item.items else None
        for key in _EXPECT_KEYS
    )
    return RawExpected(rows, changes)


def _texts(root: Mapped, key: str) -> dict[str, tuple[Span, str]]:
    if key not in root.items:
        return {}
    items = _mapped(root.items[key][1], f"'{key}'").items
    return {name: (at, _text(value, f"'{name}'")) for name, (at, value) in items.items()}


def _check_keys(
    item: Mapped, what: str, known: tuple[str, ...], required: tuple[str, ...] = ()
) -> None:
    for key, (at, _) in item.items.items():
        if key not in known:
            hint = closest(key, known) or f"the keys are {', '.join(known)}"
            raise invalid(at, f"{what} has no key '{key}'", hint)
    for key in required:
        if key not in item.items:
            raise invalid(item.at, f"{what} lacks the key '{key}'")


def _mapped(node: Node, what: str) -> Mapped:
    if not isinstance(node, Mapped):
        raise invalid(node.at, f"{what} is not a mapping of keys to values")
    return node


def _items(node: Node, what: str) -> tuple[Node, ...]:
    if isinstance(node, Text) and node.text is None:
        return ()
    if not isinstance(node, Listed):
        raise invalid(node.at, f"{what} is not a list")
    return node.items


def _text(node: Node, what: str) -> str:
    if not isinstance(node, Text) or node.text is None:
        raise invalid(node.at, f"{what} is not a text")
    return node.text
