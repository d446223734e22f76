"""Definitions of relations: the sources of the project, and what `dbt run` has created.

`dbt run` writes a definition per model into the target folder, which later commands read. So the
folder is what a database's catalog is for other adapters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dbt.adapters.streamtable.credentials import text_of
from dbt.adapters.streamtable.refusals import fail

from streamtable.core.secrets import is_secret

SOURCE, TABLE, VIEW = "source", "streaming table", "view"

_QUOTED = re.compile(r"`((?:[^`]|``)+)`")


@dataclass(frozen=True)
class Definition:
    """A relation.

    Attributes:
        name: identifier, unquoted.
        kind: `source`, `streaming table` or `view`.
        owner: dbt's id of the node, for messages.
        columns: name -> Flink SQL type, or the rest of the column's definition; tables only.
        primary_key: names of columns.
        watermark: `column AS expression`, or None.
        options: connector options besides those of the profile.
        query: the query of a view.
    """

    name: str
    kind: str
    owner: str
    columns: dict[str, str] = field(default_factory=dict)
    primary_key: list[str] = field(default_factory=list)
    watermark: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    query: str = ""


class Definitions:
    """The relations of a project.

    Args:
        folder: holds a file per model that has been created.
        sources: the sources of the project, by name.
        models: names of the project's models, which may not have been created.
    """

    def __init__(
        self, folder: Path, sources: Mapping[str, Definition], models: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._sources = sources
        self._models = models

    def put(self, definition: Definition) -> None:
        """Store the definition of a model."""
        self._folder.mkdir(parents=True, exist_ok=True)
        draft = self._folder / f"{definition.name}.json.new"
        draft.write_text(json.dumps(asdict(definition), indent=2), encoding="utf-8")
        draft.replace(self._folder / f"{definition.name}.json")

    def get(self, name: str) -> Definition | None:
        """Return a source or a created model; None if there is none of the name."""
        if name in self._sources:
            return self._sources[name]
        try:
            found = json.loads((self._folder / f"{name}.json").read_text(encoding="utf-8"))
            return Definition(**found)
        except FileNotFoundError:
            return None

    def created(self) -> Iterator[Definition]:
        """Yield the models that have been created."""
        for file in sorted(self._folder.glob("*.json")):
            yield Definition(**json.loads(file.read_text(encoding="utf-8")))

    def named_in(self, sql: str) -> list[Definition]:
        """Return the relations that a text names, in the order of their first places.

        `ref()` and `source()` write a name in backquotes.

        Raises:
            DbtRuntimeError: the text names a model that has not been created.
        """
        names = dict.fromkeys(name.replace("``", "`") for name in _QUOTED.findall(sql))
        found = []
        for name in names:
            definition = self.get(name)
            if definition is not None:
                found.append(definition)
            elif name in self._models:
                model = self._models[name]
                hint = f"run `dbt run --select {model}` first"
                fail(f"model {model} has not been created in this folder", hint)
        return found

    def needed_by(self, sql: str) -> list[Definition]:
        """Return the relations that a text reads, and those that their views read, in order."""
        ordered: dict[str, Definition] = {}

        def add(text: str, within: tuple[str, ...]) -> None:
            for each in self.named_in(text):
                if each.name in ordered or each.name in within:
                    continue
                add(each.query, (*within, each.name))
                ordered[each.name] = each

        add(sql, ())
        return list(ordered.values())


def sources_of(found: Iterator[Any], models: Mapping[str, str]) -> dict[str, Definition]:
    """Return the sources of a project, by name.

    Args:
        found: dbt's source nodes.
        models: names of the project's models -> models.

    Raises:
        DbtRuntimeError: a name stands for two relations.
    """
    sources: dict[str, Definition] = {}
    for node in found:
        name = node.identifier
        other = sources[name].owner if name in sources else models.get(name)
        if other is not None:
            hint = "give one of them another `identifier` or `alias`, and its topic in `with`"
            same = f"{node.unique_id} and {other} have the same name `{name}`"
            fail(f"{same}, and streamtable has one database", hint)
        meta = {**node.source_meta, **dict(node.config.meta), **node.meta}
        options = {**node.source_meta.get("with", {}), **meta.get("with", {})}
        columns = {c.name: c.data_type or "" for c in node.columns.values()}
        sources[name] = Definition(
            name,
            SOURCE,
            node.unique_id,
            columns,
            names_of(meta.get("primary_key")),
            meta.get("watermark"),
            options_of(options, node.unique_id),
        )
    return sources


def names_of(given: object) -> list[str]:
    """Return a name or a list of names as a list."""
    if given is None:
        return []
    return list(map(str, given)) if isinstance(given, list | tuple) else [str(given)]


def options_of(given: Mapping[str, Any], owner: str) -> dict[str, str]:
    """Return connector options as texts.

    Raises:
        DbtRuntimeError: a secret is written out; dbt copies the options of a project into files.
    """
    options = {key: text_of(value) for key, value in given.items()}
    for key, value in options.items():
        if is_secret(key) and "${" not in value:
            name = re.sub(r"\W", "_", key)
            hint = f"write '${{{name}}}', and give {name} in the environment or in `variables`"
            fail(f"option '{key}' of {owner} is a secret, and dbt copies it into its files", hint)
    return options
