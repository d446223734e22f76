"""Options of catalogs of type `schema-registry`, and the WITH clauses of their tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from streamtable.connectors.kafka.options import rules
from streamtable.connectors.kafka.options.options import BOOTSTRAP_SERVERS, StartupMode
from streamtable.core.errors import Span
from streamtable.core.option_kinds import NAMES, NOT_EMPTY, TEXT, choice
from streamtable.core.options import Given, Option, OptionSet, Settings
from streamtable.formats.schema_registry.client import REGISTRY_RULES
from streamtable.formats.schema_registry.options import CONNECTION, PROPERTIES


class CatalogStartup(Enum):
    """Start position of the tables that keep all records."""

    EARLIEST = StartupMode.EARLIEST.value
    LATEST = StartupMode.LATEST.value
    GROUP = StartupMode.GROUP.value


TYPE = Option("type", TEXT, doc="`schema-registry`.", required=True)
DATABASE = Option(
    "default-database", NOT_EMPTY, default="kafka", doc="The name of the catalog's only database."
)
STARTUP = Option(
    "scan.startup.mode",
    choice(CatalogStartup),
    default=CatalogStartup.EARLIEST,
    doc="Startup mode of `kafka` tables. A hint `/*+ OPTIONS(...) */` changes it for a query.",
)
UPSERT_TOPICS = Option(
    "upsert-topics",
    NAMES,
    default=(),
    doc="Topics whose tables are `upsert-kafka`, separated by `;`; `*` stands for any characters."
    " Other tables are `kafka`.",
)

#: Prefix of the options of the registry: those of the formats, such as `url`.
PREFIX = "schema-registry."
_PROPERTIES = f"{PREFIX}properties."
_OWNER = "a catalog of type 'schema-registry'"
_REGISTRY = OptionSet(
    _OWNER,
    # The fallback keys are those of earlier Flink formats.
    tuple(replace(option, fallback_keys=()) for option in (*CONNECTION, PROPERTIES)),
    passthrough="properties.",
    rules=REGISTRY_RULES,
)

OPTIONS = OptionSet(
    _OWNER,
    (
        TYPE,
        DATABASE,
        *_REGISTRY.under(PREFIX).options,
        BOOTSTRAP_SERVERS,
        STARTUP,
        UPSERT_TOPICS,
    ),
    passthrough="properties.",
    family=_PROPERTIES,
    rules=(rules.client_properties_are_free,),
)


@dataclass(frozen=True)
class CatalogOptions:
    """The checked options of a catalog.

    Attributes:
        database: the name of its database.
        registry: the options of the registry, without the prefix; they contain secrets.
        formats: the options of the registry as the script gives them, without the prefix.
        tables: options of every table: the addresses and settings of the brokers.
        startup: the startup mode of `kafka` tables.
        upserts: patterns of the topics whose tables are `upsert-kafka`.
    """

    database: str
    registry: Settings
    formats: Mapping[str, Given]
    tables: Mapping[str, Given]
    startup: Given
    upserts: tuple[str, ...]


def read_catalog(name: str, given: Mapping[str, Given], at: Span | None) -> CatalogOptions:
    """Read the WITH clause of CREATE CATALOG.

    Raises:
        StreamtableError: an error in an option, at its position.
    """
    settings = OPTIONS.read(given, name, at)
    formats = {
        key.removeprefix(PREFIX): value for key, value in given.items() if key.startswith(PREFIX)
    }
    mode: Any = settings[STARTUP]
    return CatalogOptions(
        database=settings[DATABASE],
        registry=_REGISTRY.read(formats, name, at, prefix=PREFIX),
        formats=formats,
        tables={key: value for key, value in given.items() if key.startswith("properties.")},
        startup=Given(mode.value, settings.at(STARTUP)),
        upserts=settings[UPSERT_TOPICS],
    )
