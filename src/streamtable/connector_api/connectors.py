"""The available connectors: every entry point of the group `streamtable.connectors`."""

from __future__ import annotations

from collections.abc import Mapping

from streamtable.connector_api.connector import ConnectorFactory
from streamtable.connector_api.registry import EntryPoints

#: Connectors by the value of `'connector'`.
CONNECTORS: Mapping[str, ConnectorFactory] = EntryPoints("streamtable.connectors", "connector")
