"""Completion of keywords, tables, columns, options, settings, functions, jobs and shortcuts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from streamtable.api.session import Session
from streamtable.connector_api.connectors import CONNECTORS
from streamtable.core.errors import StreamtableError
from streamtable.core.settings.declared import SETTINGS
from streamtable.core.settings.flink import flink_settings
from streamtable.formats.registry import FORMATS
from streamtable.shell.shortcuts import SHORTCUTS
from streamtable.shell.words import KEYWORDS, TYPES

_WORD = re.compile(r"[\w.`]*\Z")
_TABLE_FOLLOWS = re.compile(
    r"\b(FROM|JOIN|INTO|TABLE|VIEW|DESCRIBE|DESC|EXISTS|LIKE)\s+[\w.`]*\Z", re.IGNORECASE
)
_JOB = re.compile(r"\b(STOP|DESCRIBE|DESC)\s+JOB\s*\Z", re.IGNORECASE)
_SETTING = re.compile(r"\s*(SET|RESET)\s*\Z", re.IGNORECASE)
_VALUE = re.compile(r"'([^']*)'\s*=\s*\Z")
_CONNECTOR = re.compile(r"'connector'\s*=\s*'([^']+)'", re.IGNORECASE)
_FORMAT = re.compile(r"'((?:key\.|value\.)?format)'\s*=\s*'([^']+)'", re.IGNORECASE)
_NAME = re.compile(r"\b(?:FROM|JOIN|INTO|TABLE)\s+([\w.`]+)(?:\s+(?:AS\s+)?(\w+))?", re.IGNORECASE)


class SqlCompleter(Completer):
    """Completes what is typed, with the content of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        """Yield the completions of the word, or of the quoted text, before the cursor."""
        del complete_event
        before = document.text_before_cursor
        if before.lstrip().startswith("\\") and " " not in before.strip():
            yield from _matches(before.strip(), SHORTCUTS)
            return
        # Statements before the last `;` do not matter, nor do quotes in them.
        begin = before.rfind(";") + 1
        statement = before[begin:] + document.text_after_cursor
        open_quote = before[begin:].count("'") % 2 == 1
        if open_quote:
            start = before.rfind("'")
            typed = before[start + 1 :]
            yield from _matches(typed, self._quoted(before[begin:start], statement))
            return
        found = _WORD.search(before)
        typed = found[0] if found else ""
        yield from _matches(typed, self._words(before[begin:], typed, statement))

    def _quoted(self, before: str, statement: str) -> Iterable[str]:
        """Return what a quoted text can be, by the text before its quote."""
        if _JOB.search(before):
            return [job.id for job in self._session.jobs]
        if _SETTING.fullmatch(before):
            return sorted({*SETTINGS.keys(), *(setting.key for setting in flink_settings())})
        value = _VALUE.search(before)
        if value is None:
            return self._options(statement)
        if value[1] == "connector":
            return sorted(CONNECTORS)
        return sorted(FORMATS) if value[1].endswith("format") else ()

    def _options(self, statement: str) -> list[str]:
        """Return the options of the connector and the formats that a statement names."""
        connector = _CONNECTOR.search(statement)
        if connector is None or connector[1] not in CONNECTORS:
            return ["connector"]
        found = list(CONNECTORS[connector[1]].options.keys())
        for key, name in _FORMAT.findall(statement):
            if name in FORMATS:
                prefix = key.removesuffix("format")
                options = FORMATS[name].options.keys()
                found += [f"{prefix}{name}.{option}" for option in options]
        return found

    def _words(self, before: str, typed: str, statement: str) -> Iterator[str]:
        tables = self._session.list_tables()
        if _TABLE_FOLLOWS.search(before):
            yield from tables
            return
        names = dict(_NAME.findall(statement))
        owner, dot, _ = typed.rpartition(".")
        if dot:
            by_alias = {alias: table for table, alias in names.items() if alias}
            columns = self._columns(by_alias.get(owner, owner))
            yield from (f"{owner}.{column}" for column in columns)
            return
        for table in names:
            yield from self._columns(table)
        yield from sorted(KEYWORDS | TYPES)
        yield from (f"{name}(" for name in self._session.list_functions())
        yield from tables

    def _columns(self, table: str) -> list[str]:
        try:
            return [name for name, _ in self._session.columns_of(table)]
        except StreamtableError:
            return []


def _matches(typed: str, words: Iterable[str]) -> Iterator[Completion]:
    """Yield the words that begin with a text, in any case; a lower-case text stays lower case."""
    lowered = typed.islower()
    for word in dict.fromkeys(words):
        if word.lower().startswith(typed.lower()):
            plain = lowered and word.rstrip("(").upper() in KEYWORDS | TYPES
            yield Completion(word.lower() if plain else word, start_position=-len(typed))
