"""Read sections of a job file into checked settings, and collect all errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given, Option, Settings
from streamtable.core.secrets import hide, is_secret
from streamtable.ingest.file import options as o
from streamtable.ingest.file.document import Listed, Mapped, Node, Text

T = TypeVar("T")

#: Keys whose value may be a list of texts; the list becomes one text with commas.
_LISTS = frozenset(
    option.key for option in (o.TABLES, o.TABLES_EXCLUDE, o.COLUMN_INCLUDE, o.COLUMN_EXCLUDE)
)


class SectionReader:
    """Reads sections and continues after errors.

    Args:
        tree: the tree of the file.
        faults: collects the errors.
    """

    def __init__(self, tree: Mapped, faults: list[StreamtableError]) -> None:
        self._tree = tree
        self.faults = faults

    def section(self, section: o.Section, *, required: bool) -> Settings:
        """Read the settings of `source`, `sink` or `pipeline`, without values that have errors."""
        found = self._tree.items.get(section.name)
        if found is None:
            if required:
                self.faults.append(missing("the job file", section.name, self._tree.at))
            return Settings({}, {})
        at, node = found
        return self._settings(section, section.name, node, at)

    def entries(self, section: o.Section) -> list[Settings]:
        """Read the entries of `route` or `transform` that have all required keys."""
        node = self._tree.items[section.name][1] if section.name in self._tree.items else None
        if node is None or (isinstance(node, Text) and node.text is None):
            return []
        if not isinstance(node, Listed):
            self.faults.append(_wrong(section.name, node, "a list ('- source-table: ...')"))
            return []
        found = []
        for item in node.items:
            before = len(self.faults)
            settings = self._settings(section, f"an entry of {section.name}", item, item.at)
            if len(self.faults) == before:
                found.append(settings)
        return found

    def kept(self, make: Callable[[], T]) -> T | None:
        """Return the result of `make`; None if it raises an error, which is collected."""
        try:
            return make()
        except StreamtableError as error:
            self.faults.append(error)
            return None

    def _settings(self, section: o.Section, name: str, node: Node, at: Span) -> Settings:
        if not isinstance(node, Mapped):
            self.faults.append(_wrong(name, node, "a mapping of keys to values"))
            return Settings({}, {})
        options: dict[str, Option[Any]] = {option.key: option for option in section.options}
        given: dict[str, Given] = {}
        values: dict[str, Any] = {}
        passed: dict[str, str] = {}
        for key, (place, value) in node.items.items():
            found = self._given(section, options, key, place, value)
            if found is None:
                continue
            given[key] = found
            if is_secret(key):
                hide(found.text)
            if key in options:
                option = options[key]
                read = self.kept(lambda option=option, found=found: (option.read(found),))  # type: ignore[misc]
                if read is not None:
                    values[key] = read[0]
            elif key.startswith("properties."):
                passed[key.removeprefix("properties.")] = found.text
        for option in section.options:
            if option.required and option.key not in node.items:
                self.faults.append(missing(name, option.key, at))
        return Settings(values, given, passed)

    def _given(
        self,
        section: o.Section,
        options: dict[str, Option[Any]],
        key: str,
        at: Span,
        value: Node,
    ) -> Given | None:
        """Return a value as text; None if the key or the value is invalid, which is an error."""
        if key not in options and not key.startswith(tuple(section.prefixes)):
            self.faults.append(_unknown_key(section, options, key, at, value))
            return None
        text: str | None = None
        if isinstance(value, Text):
            text = value.text
            if text is None:
                self.faults.append(_wrong(f"key '{key}'", value, "a value"))
        elif isinstance(value, Listed) and key in _LISTS:
            parts = [item.text for item in value.items if isinstance(item, Text) and item.text]
            if parts and len(parts) == len(value.items):
                text = ",".join(parts)
            else:
                self.faults.append(_wrong(f"key '{key}'", value, "a list of texts"))
        else:
            self.faults.append(_wrong(f"key '{key}'", value, "a text"))
        # The position of a value is the position of its key, because the user looks for the key.
        return None if text is None else Given(text, at)


def missing(section: str, key: str, at: Span) -> StreamtableError:
    """Return JOB_KEY_MISSING."""
    return StreamtableError(
        Condition.JOB_KEY_MISSING, at=at, section=section, key=key, hint=f"add '{key}: ...'"
    )


def unknown(section: str, key: str, known: Iterable[str], at: Span) -> StreamtableError:
    """Return JOB_KEY_UNKNOWN with the nearest known key."""
    names = list(known)
    hint = closest(key, names) or "known keys: " + ", ".join(names)
    return StreamtableError(Condition.JOB_KEY_UNKNOWN, at=at, section=section, key=key, hint=hint)


def _unknown_key(
    section: o.Section, options: dict[str, Option[Any]], key: str, at: Span, value: Node
) -> StreamtableError:
    if isinstance(value, Mapped) and value.items:
        inner = f"{key}.{next(iter(value.items))}"
        if inner in options or inner.startswith(tuple(section.prefixes)):
            hint = f"write '{inner}: ...' in one line"
            return StreamtableError(
                Condition.JOB_KEY_UNKNOWN, at=at, section=section.name, key=key, hint=hint
            )
    for name, instead in section.refused.items():
        if key == name or (name.endswith(".") and key.startswith(name)):
            return StreamtableError(
                Condition.NOT_YET, at=at, what=f"key '{key}' of {section.name}", hint=instead
            )
    return unknown(section.name, key, options, at)


def _wrong(what: str, node: Node, expected: str) -> StreamtableError:
    kinds = {Listed: "a list", Mapped: "a mapping"}
    found = kinds.get(type(node)) or ("nothing" if node == Text(None, node.at) else "a text")
    return StreamtableError(
        Condition.JOB_FILE_INVALID,
        at=node.at,
        reason=f"{what} takes {expected}, found {found}",
    )
