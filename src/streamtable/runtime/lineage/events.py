"""OpenLineage's events of a job: a run of the job, and a run of each of its queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from openlineage.client.event_v2 import (
    InputDataset,
    Job,
    OutputDataset,
    Run,
    RunEvent,
    RunState,
)
from openlineage.client.facet_v2 import (
    DatasetFacet,
    JobFacet,
    OutputDatasetFacet,
    RunFacet,
    error_message_run,
    job_type_job,
    output_statistics_output_dataset,
    parent_run,
    processing_engine_run,
    schema_dataset,
)
from openlineage.client.uuid import generate_new_uuid

from streamtable import __version__
from streamtable.connector_api.dataset import Dataset, Located
from streamtable.core.table import Table
from streamtable.jvm.installed_spark import installed_spark
from streamtable.plan.join.connector_lookup_join import lookup_joins
from streamtable.plan.sink.sink import Sink
from streamtable.plan.source.scan import scans

#: Value of `producer`: the program that sends the events, as a URI.
_PRODUCER = f"urn:streamtable:{__version__}"


@dataclass(frozen=True)
class JobRun:
    """A run of a job.

    Attributes:
        namespace: OpenLineage's namespace of the job.
        name: name of the job.
        plans: by the names of the queries.
        bounded: whether the run ends with its input.
    """

    namespace: str
    name: str
    plans: Mapping[str, Sink]
    bounded: bool
    _id: str = field(default_factory=lambda: str(generate_new_uuid()))
    _ids: dict[str, str] = field(default_factory=dict)

    def events(
        self, state: RunState, tables: Mapping[str, Mapping[str, Any]], error: str | None = None
    ) -> Iterator[RunEvent]:
        """Yield an event of the job and one of each query.

        Args:
            state: the state that all of them have reached.
            tables: metrics of tables, by the names of tables.
            error: the error that ended the run, in one line without secrets.
        """
        now = datetime.now(UTC).isoformat()
        version = installed_spark().version
        shared: dict[str, RunFacet] = {
            "processing_engine": processing_engine_run.ProcessingEngineRunFacet(
                version, "spark", __version__
            )
        }
        if error is not None:
            shared["errorMessage"] = error_message_run.ErrorMessageRunFacet(error, "SQL")
        yield RunEvent(
            eventTime=now,
            producer=_PRODUCER,
            run=Run(self._id, dict(shared)),
            job=self._job(self.name, "JOB"),
            eventType=state,
        )
        parent = parent_run.ParentRunFacet(
            parent_run.Run(self._id), parent_run.Job(self.namespace, self.name)
        )
        for name, plan in self.plans.items():
            run = self._ids.setdefault(name, str(generate_new_uuid()))
            yield RunEvent(
                eventTime=now,
                producer=_PRODUCER,
                run=Run(run, {**shared, "parent": parent}),
                job=self._job(f"{self.name}.{name}", "QUERY"),
                eventType=state,
                inputs=list(_inputs(plan)),
                outputs=list(_outputs(plan.table, tables.get(plan.table.name, {}))),
            )

    def _job(self, name: str, kind: str) -> Job:
        processing = "BATCH" if self.bounded else "STREAMING"
        facet: JobFacet = job_type_job.JobTypeJobFacet(processing, "STREAMTABLE", kind)
        return Job(self.namespace, name, {"jobType": facet})


def _inputs(plan: Sink) -> Iterator[InputDataset]:
    """Yield each dataset once, although a query may read a table in several places."""
    read = [scan.table for scan in scans(plan.input)]
    looked_up = [join.looked_up for join in lookup_joins(plan.input)]
    seen = set()
    for table in (*read, *looked_up):
        for dataset in _datasets(table):
            if dataset not in seen:
                seen.add(dataset)
                yield InputDataset(dataset.namespace, dataset.name, facets=_facets(table))


def _outputs(table: Table, metrics: Mapping[str, Any]) -> Iterator[OutputDataset]:
    written: OutputDatasetFacet = (
        output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
            metrics.get("numRecordsOut"), metrics.get("numBytesOut")
        )
    )
    for dataset in _datasets(table):
        yield OutputDataset(
            dataset.namespace,
            dataset.name,
            facets=_facets(table),
            outputFacets={"outputStatistics": written} if metrics else {},
        )


def _datasets(table: Table) -> Sequence[Dataset]:
    return table.connector.datasets() if isinstance(table.connector, Located) else ()


def _facets(table: Table) -> dict[str, DatasetFacet]:
    stored = table.schema.stored
    fields = [schema_dataset.SchemaDatasetFacetFields(f.name, str(f.type)) for f in stored]
    return {"schema": schema_dataset.SchemaDatasetFacet(fields)}
