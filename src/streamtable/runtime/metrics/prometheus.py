"""Prometheus endpoint of a job's metrics: HTTP at `/metrics`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    generate_latest,
    start_http_server,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.metrics.metric_names import METRICS, Metric, Owner
from streamtable.runtime.metrics.metrics import JobMetrics
from streamtable.runtime.socket_server import stop_at_once

_PREFIX = "streamtable_"

#: Metric with the value 1 and the name of the job as its label. Prometheus has its own label `job`.
INFO = f"{_PREFIX}job_info"

_Family = CounterMetricFamily | GaugeMetricFamily


class JobCollector(Collector):
    """Collector of one family per metric: `streamtable_numRecordsIn_total{table="t"} 5`.

    Args:
        metrics: metrics of the job.
        name: name of the job, the label of `streamtable_job_info`.
        labels: more labels, which all metrics have.
    """

    def __init__(self, metrics: JobMetrics, name: str, labels: Mapping[str, str]) -> None:
        self._metrics = metrics
        self._name = name
        self._labels = labels

    def collect(self) -> Iterator[_Family]:
        """Yield the families of all metrics that have a value now."""
        names, more = tuple(self._labels), list(self._labels.values())
        info = GaugeMetricFamily(INFO, "The name of the job.", labels=("job_name", *names))
        info.add_metric([self._name, *more], 1)
        yield info
        found = self._metrics.values()
        for metric in METRICS:
            family = _family(metric, names)
            owners = found["queries" if metric.owner is Owner.QUERY else "tables"]
            for owner, values in owners.items():
                for labels, value in _samples(metric, values):
                    family.add_metric([owner, *labels, *more], value)
            if family.samples:
                yield family


def _family(metric: Metric, more: Sequence[str]) -> _Family:
    owner = "query" if metric.owner is Owner.QUERY else "table"
    kind = CounterMetricFamily if metric.counter else GaugeMetricFamily
    return kind(_PREFIX + metric.name, metric.doc, labels=(owner, *metric.labels, *more))


def _samples(metric: Metric, values: Mapping[str, Any]) -> Iterator[tuple[list[str], float]]:
    if metric.labels == ("operator",):
        name = metric.name.removeprefix("operatorS")
        for i, operator in enumerate(values["operators"]):
            value = operator[f"s{name}"]
            if value is not None:
                yield [f"{i}-{operator['name']}"], value
    elif metric.name == "partitionWatermark":
        for partition, moment in values[metric.name].items():
            yield list(partition.rsplit("-", 1)), moment
    elif metric.name == "mode":
        if values[metric.name] is not None:
            yield [values[metric.name]], 1
    elif metric.name == "watermark":
        moment = _epoch_ms(values[metric.name])
        if moment is not None:
            yield [], moment
    elif values.get(metric.name) is not None:
        yield [], values[metric.name]


def _epoch_ms(moment: str | None) -> int | None:
    """Return epoch milliseconds; None if unknown, or if the year is out of Python's range.

    Spark writes the maximum watermark with such a year.
    """
    try:
        return None if moment is None else round(datetime.fromisoformat(moment).timestamp() * 1_000)
    except ValueError:
        return None


def exposition(collector: JobCollector) -> tuple[bytes, str]:
    """Return the metrics as text for Prometheus, and its content type."""
    return generate_latest(_registry(collector)), CONTENT_TYPE_LATEST


def _registry(collector: JobCollector) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(collector)
    return registry


@contextmanager
def serve(collector: JobCollector, host: str, port: int) -> Iterator[int]:
    """Serve metrics at `http://host:port/metrics` while the block runs; yield the port.

    If the port is 0, a free port is chosen.

    Raises:
        StreamtableError: PORT_TAKEN.
    """
    try:
        server, thread = start_http_server(port, host, _registry(collector))
    except OSError as error:
        raise StreamtableError(
            Condition.PORT_TAKEN,
            host=host,
            port=port,
            reason=error.strerror,
            hint="use another --metrics-port",
        ) from error
    try:
        yield server.server_port
    finally:
        stop_at_once(server)
        server.server_close()
        thread.join()
