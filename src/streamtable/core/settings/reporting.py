"""Settings of what a job reports to other systems: metrics and lineage."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from streamtable.core.option_kinds import NOT_EMPTY, Kind
from streamtable.core.options import Option
from streamtable.core.secrets import hide

#: Labels that metrics of a job have anyway.
OWN_LABELS = frozenset({"job_name", "mode", "operator", "partition", "query", "table", "topic"})


def _labels(text: str) -> Mapping[str, str]:
    # dict() raises ValueError for a part without ':'.
    pairs = dict(part.split(":", 1) for part in text.split(",") if part.strip())
    labels = {name.strip(): value.strip() for name, value in pairs.items()}
    if any(not re.fullmatch(r"[a-zA-Z]\w*", n, re.ASCII) or n in OWN_LABELS for n in labels):
        raise ValueError(text)
    return labels


#: The password of an address that may lack a scheme or a host.
_PASSWORD = re.compile(r"(?:\w+://)?[^:/@]*:(.*)@")


def _http_address(text: str) -> str:
    """Read an address, and hide the password of its login, also for the error."""
    address = text.strip()
    if found := _PASSWORD.match(address):
        hide(found[1])
        hide(unquote(found[1]))
    parts = urlsplit(address)  # raises ValueError, as does `port`
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(text)
    if re.search(r"\s", address):
        raise ValueError(text)
    return address


METRIC_LABELS = Option(
    "metrics.reporter.prom.scope.variables.additional",
    Kind(
        "Map<String, String>",
        "pairs such as 'team:data,env:test', with names of letters, digits and '_' other than "
        + ", ".join(sorted(OWN_LABELS)),
        _labels,
    ),
    doc="Labels of all Prometheus metrics of the job: `team:data,env:test`.",
)

LINEAGE_URL = Option(
    "openlineage.transport.url",
    Kind("String", "an http or https address such as 'http://marquez:5000'", _http_address),
    doc="Address of a server that gets lineage events of the job, e.g. `http://marquez:5000`.",
)

LINEAGE_API_KEY = Option(
    "openlineage.transport.auth.apiKey",
    NOT_EMPTY,
    doc="API key for the server of lineage events.",
    secret=True,
)

LINEAGE_NAMESPACE = Option(
    "openlineage.namespace",
    NOT_EMPTY,
    default="streamtable",
    doc="Namespace of the job in lineage events.",
)
