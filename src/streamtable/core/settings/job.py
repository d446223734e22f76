"""Settings of a job as a whole: name, parallelism, time zone, files of functions."""

from __future__ import annotations

from streamtable.core.option_kinds import TEXT, integer
from streamtable.core.options import Option

JOB_NAME = Option("pipeline.name", TEXT, doc="Name of the job in Spark's UI and in messages.")

PARALLELISM = Option(
    "parallelism.default",
    integer(minimum=1),
    doc="Number of state partitions, fixed by the first run of a checkpoint. Default: the"
    " number of cores.",
    fallback_keys=("table.exec.resource.default-parallelism",),
)

TIME_ZONE = Option(
    "table.local-time-zone",
    TEXT,
    default="default",
    doc="Session time zone, e.g. `Europe/Berlin` or `GMT-08:00`; `default` is the machine's.",
)

PYTHON_FILES = Option(
    "python.files",
    TEXT,
    default="",
    doc="Where CREATE FUNCTION finds Python modules: folders, `.py` and `.zip` files, separated"
    " by commas.",
)

PIPELINE_JARS = Option(
    "pipeline.jars",
    TEXT,
    default="",
    doc="Jars with the classes of functions, separated by semicolons, like ADD JAR.",
)
