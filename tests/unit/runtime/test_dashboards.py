"""The dashboard and the alert rules use only metrics and labels that jobs serve."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from streamtable.runtime.metrics.metric_names import BY_NAME, Metric, Owner

_DEPLOY = Path(__file__).parents[3] / "deploy"
_DASHBOARD = json.loads((_DEPLOY / "grafana" / "streamtable.json").read_text())
_RULES = yaml.safe_load((_DEPLOY / "prometheus" / "alerts.yml").read_text())
_NAME = re.compile(r"streamtable_(\w+)")

#: Metrics that a dashboard for operators must show.
_SHOWN = {
    "numRecordsInPerSecond",
    "numRecordsOutPerSecond",
    "pendingRecords",
    "watermark",
    "partitionWatermark",
    "operatorStateBytes",
    "operatorStateTime",
    "batchDuration",
    "lastCheckpoint",
    "numErrors",
}


def _expressions() -> list[tuple[str, str]]:
    """Return the text of each query, with the text that names its labels."""
    panels = [
        (target["expr"], target["legendFormat"])
        for panel in _DASHBOARD["panels"]
        for target in panel["targets"]
    ]
    variables = [(v["query"], "") for v in _DASHBOARD["templating"]["list"] if v["type"] == "query"]
    return [*panels, *variables, *((r["expr"], json.dumps(r["annotations"])) for r in _rules())]


def _rules() -> list[dict[str, Any]]:
    return [rule for group in _RULES["groups"] for rule in group["rules"]]


def _declared(name: str) -> Metric:
    """Return the metric of a name in Prometheus. Only names of counters end with `_total`."""
    metric = BY_NAME[name.removesuffix("_total")]
    assert metric.counter == name.endswith("_total"), name
    return metric


def test_dashboards_use_only_metrics_of_jobs() -> None:
    used = set()
    for text, legend in _expressions():
        names = _NAME.findall(text)
        assert names or "up{" in text, text
        used.update(_declared(name).name for name in names)
        if names:
            # The result has the labels of the first metric.
            metric = _declared(names[0])
            owner = "query" if metric.owner is Owner.QUERY else "table"
            allowed = {owner, *metric.labels, "job", "instance"}
            assert set(re.findall(r"\b(\w+)=~", text)) <= allowed, text
            labels = set(re.findall(r"\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}", legend))
            assert labels <= allowed, legend
    assert used >= _SHOWN


def test_every_panel_and_rule_is_complete() -> None:
    panels = _DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    assert all(panel["title"] and panel["description"] for panel in panels)
    places = [tuple(panel["gridPos"].values()) for panel in panels]
    assert len(set(places)) == len(places)
    names = [rule["alert"] for rule in _rules()]
    assert len(set(names)) == len(names) >= 5
    for rule in _rules():
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"]
