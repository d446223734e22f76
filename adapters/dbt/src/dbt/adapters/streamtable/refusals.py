"""Errors of the adapter, and refusals of what dbt can ask for and streamtable does not have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from dbt_common.exceptions import DbtRuntimeError

from streamtable.core.errors import closest
from streamtable.core.secrets import without_secrets

#: Config keys of a streaming_table.
_OWN = ("bounded", "connector", "primary_key", "topic", "watermark", "with")

#: Config key of a model -> what to do without it.
_UNSUPPORTED = {
    "pre-hook": "remove it: the adapter runs no statements besides models and tests",
    "post-hook": "remove it: the adapter runs no statements besides models and tests",
    "grants": "grant rights on the topic with Kafka's ACLs",
    "persist_docs": "remove it: a topic has no place for descriptions",
    "sql_header": "set `settings` in the profile",
    "unique_key": "use `primary_key`",
    "incremental_strategy": "remove it: a job updates its rows by `primary_key`",
}


def fail(what: str, hint: str) -> NoReturn:
    """Raise dbt's error, secrets masked.

    Raises:
        DbtRuntimeError: always.
    """
    raise DbtRuntimeError(without_secrets(f"{what}. Hint: {hint}"))


def refuse(what: str, hint: str) -> NoReturn:
    """Raise the error of an unsupported feature.

    Raises:
        DbtRuntimeError: always.
    """
    fail(f"dbt-streamtable does not support {what}", hint)


def check_config(config: Mapping[str, Any], owner: str, *, is_view: bool) -> None:
    """Refuse the config keys of a model that have no effect here, and misspelt keys.

    Raises:
        DbtRuntimeError: the first such key.
    """
    for key, hint in _UNSUPPORTED.items():
        if config.get(key):
            refuse(f"the config `{key}`", hint)
    if (config.get("contract") or {}).get("enforced"):
        refuse("model contracts", "remove `contract`; the query gives the columns of the table")
    for key in config:
        if key in _OWN:
            if is_view and key != "bounded":
                hint = "remove it, or use materialized='streaming_table'"
                fail(f"the config `{key}` of {owner} has no effect on a view", hint)
        elif (near := closest(key, _OWN)) is not None:
            fail(f"{owner} has the unknown config `{key}`", near)
