"""OpenLineage's events of a job: a run of the job, and a run of each of its queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from streamtable.jvm.install.installed_spark import installed_spark
from streamtable.runtime.lineage.flows import Columns, Flow

#: Value of `producer`: the program that sends the events, as a URI.
_PRODUCER = f"urn:streamtable:{__version__}"


@dataclass(frozen=True)
class JobRun:
    """A run of a job.

    Attributes:
        namespace: OpenLineage's namespace of the job.
        name: name of the job.
        flows: by the names of the queries.
        bounded: whether the run ends with its input.
    """

    namespace: str
    name: str
    flows: Mapping[str, Flow]
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
        for name, flow in self.flows.items():
            run = self._ids.setdefault(name, str(generate_new_uuid()))
            yield RunEvent(
                eventTime=now,
                producer=_PRODUCER,
                run=Run(run, {**shared, "parent": parent}),
                job=self._job(f"{self.name}.{name}", "QUERY"),
                eventType=state,
                inputs=[
                    InputDataset(dataset.namespace, dataset.name, facets=_facets(columns))
                    for dataset, columns in flow.inputs.items()
                ],
                outputs=list(_outputs(flow, tables.get(flow.sink or "", {}))),
            )

    def _job(self, name: str, kind: str) -> Job:
        processing = "BATCH" if self.bounded else "STREAMING"
        facet: JobFacet = job_type_job.JobTypeJobFacet(processing, "STREAMTABLE", kind)
        return Job(self.namespace, name, {"jobType": facet})


def _outputs(flow: Flow, metrics: Mapping[str, Any]) -> Iterator[OutputDataset]:
    written: OutputDatasetFacet = (
        output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet(
            metrics.get("numRecordsOut"), metrics.get("numBytesOut")
        )
    )
    for dataset, columns in flow.outputs.items():
        yield OutputDataset(
            dataset.namespace,
            dataset.name,
            facets=_facets(columns),
            outputFacets={"outputStatistics": written} if metrics else {},
        )


def _facets(columns: Columns) -> dict[str, DatasetFacet]:
    fields = [schema_dataset.SchemaDatasetFacetFields(name, kind) for name, kind in columns]
    return {"schema": schema_dataset.SchemaDatasetFacet(fields)} if fields else {}
