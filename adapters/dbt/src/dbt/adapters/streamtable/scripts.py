"""Scripts: definitions and a query of dbt -> Flink SQL that streamtable runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from dbt.adapters.streamtable.credentials import StreamtableCredentials, text_of
from dbt.adapters.streamtable.definitions import VIEW, Definition
from dbt.adapters.streamtable.refusals import fail

from streamtable.core.secrets import is_secret

_KAFKA = ("kafka", "upsert-kafka")
_TOPICS = ("topic", "topic-pattern")
_JOB_NAME = "pipeline.name"


class Scripts:
    """Writes scripts for a target.

    A secret of the profile becomes a variable, so that no script has its value.

    Attributes:
        variables: values of `${name}` in the scripts.
    """

    def __init__(self, target: StreamtableCredentials) -> None:
        self.variables = {name: text_of(value) for name, value in target.variables.items()}
        self._shown = {k: v for k, v in self.variables.items() if not is_secret(k)}
        self._settings = self._without_secrets("settings", target.settings)
        found = {f"properties.{key}": value for key, value in target.properties.items()}
        self._properties = {
            "properties.bootstrap.servers": target.bootstrap_servers,
            **self._without_secrets("properties", found),
        }

    def settings(self, *named: tuple[str, str]) -> str:
        """Return a SET statement for each setting of the profile, which override the named ones."""
        given = {**dict(named), **self._settings}
        return "\n".join(f"SET {_text(key)} = {_text(value)};" for key, value in given.items())

    def create(self, definitions: Iterable[Definition]) -> str:
        """Return the CREATE statements of relations, in the given order."""
        return "\n".join(map(self._create, definitions))

    def job(self, needed: Iterable[Definition], sink: Definition, query: str) -> str:
        """Return the script of the job that writes a query into a table."""
        variables = [f"--   {name}: {value}" for name, value in sorted(self._shown.items())]
        secrets = sorted(self.variables.keys() - self._shown.keys())
        variables += [f"--   {name}: a secret" for name in secrets]
        header = [
            f"-- Job of {sink.owner}, written by dbt-streamtable.",
            f"-- Run it: streamtable run {sink.name}.sql --checkpoint DIR",
            *(["-- Variables, from the environment or --var:"] if variables else []),
            *(line.replace("\n", " ") for line in variables),
        ]
        parts = [
            "\n".join(header),
            self.settings((_JOB_NAME, sink.name)),
            *map(self._create, [*needed, sink]),
            f"INSERT INTO {quoted(sink.name)}\n{plain(query)};",
        ]
        return "\n\n".join(part.rstrip() for part in parts) + "\n"

    def _create(self, definition: Definition) -> str:
        name = quoted(definition.name)
        if definition.kind == VIEW:
            return f"CREATE VIEW {name} AS\n{plain(definition.query)};\n"
        lines = [f"{quoted(column)} {kind}" for column, kind in self._columns(definition)]
        if definition.watermark is not None:
            lines.append(f"WATERMARK FOR {definition.watermark}")
        if definition.primary_key:
            keys = ", ".join(map(quoted, definition.primary_key))
            lines.append(f"PRIMARY KEY ({keys}) NOT ENFORCED")
        options = self._options(definition).items()
        given = ",\n".join(f"  {_text(key)} = {_text(value)}" for key, value in options)
        columns = ",\n".join(f"  {line}" for line in lines)
        return f"CREATE TABLE {name} (\n{columns}\n) WITH (\n{given}\n);\n"

    def _columns(self, definition: Definition) -> Iterable[tuple[str, str]]:
        if not definition.columns:
            hint = "declare each column with `name` and `data_type`, in Flink SQL's types"
            fail(f"{definition.owner} has no columns", hint)
        for name, kind in definition.columns.items():
            if not kind:
                hint = "give its Flink SQL type, such as BIGINT or TIMESTAMP(3)"
                fail(f"column `{name}` of {definition.owner} has no `data_type`", hint)
            yield name, kind

    def _options(self, definition: Definition) -> dict[str, str]:
        given = {"connector": "kafka", **definition.options}
        if given["connector"] not in _KAFKA:
            return given
        topic = {} if any(key in given for key in _TOPICS) else {"topic": definition.name}
        return {"connector": given["connector"], **topic, **self._properties, **given}

    def _without_secrets(self, scope: str, given: Mapping[str, object]) -> dict[str, str]:
        found = {}
        for key, value in given.items():
            found[key] = text_of(value)
            if is_secret(key) and "${" not in found[key]:
                name = re.sub(r"\W", "_", f"dbt_{scope}_{key.removeprefix('properties.')}")
                self.variables[name] = found[key]
                found[key] = f"${{{name}}}"
        return found


def quoted(name: str) -> str:
    """Return a name as SQL quotes it."""
    return "`" + name.replace("`", "``") + "`"


def plain(query: str) -> str:
    """Return a query without blank lines around it and without its final semicolon."""
    return query.strip().removesuffix(";").rstrip()


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
