"""Settings of what a job reports to other systems: metrics and lineage."""

from __future__ import annotations

import re
from collections.abc import Mapping

from streamtable.core.option_kinds import NOT_EMPTY, Kind
from streamtable.core.options import Option

#: Labels that metrics of a job have anyway.
OWN_LABELS = frozenset({"job_name", "mode", "operator", "partition", "query", "table", "topic"})


def _labels(text: str) -> Mapping[str, str]:
    # dict() raises ValueError for a part without ':'.
    pairs = dict(part.split(":", 1) for part in text.split(",") if part.strip())
    labels = {name.strip(): value.strip() for name, value in pairs.items()}
    if any(not re.fullmatch(r"[a-zA-Z]\w*", n, re.ASCII) or n in OWN_LABELS for n in labels):
        raise ValueError(text)
    return labels


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
    NOT_EMPTY,
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
