"""`python -m streamtable.cli.reference`: generates reference pages of options, functions, metrics.

Run the module in the checkout after a declaration has changed. A test compares the pages with the
declarations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from streamtable.connector_api.catalogs import CATALOG_TYPES
from streamtable.connector_api.connectors import CONNECTORS
from streamtable.core.options import OptionSet
from streamtable.core.settings.declared import SETTINGS
from streamtable.core.settings.spark import FIXED, GOVERNED
from streamtable.core.shown_options import documented
from streamtable.core.watermark_options import OPTIONS as WATERMARK_OPTIONS
from streamtable.formats.registry import FORMATS, NOT_YET
from streamtable.ingest.file.options import ROUTE, SECTIONS, TRANSFORM
from streamtable.plan.functions import FUNCTIONS, SINCE, Category, Function
from streamtable.plan.functions.time.differences import DIFFERENCES
from streamtable.runtime.metrics.metric_names import METRICS, Owner

#: Paths of the pages, relative to the root of the checkout.
PAGE = Path("docs", "reference", "options.md")
FUNCTIONS_PAGE = Path("docs", "reference", "functions.md")
METRICS_PAGE = Path("docs", "reference", "metrics.md")
INGESTION_PAGE = Path("docs", "reference", "ingestion.md")

_HEAD = """\
# Options

`python -m streamtable.cli.reference` generates this page from the declarations in the code.
`streamtable options NAME` prints the same tables. An unknown key is refused, with the closest known
key. For options that are "not supported yet", only the default value is accepted.
"""
_FUNCTIONS_HEAD = """\
# Functions

`python -m streamtable.cli.reference` generates this page from the table in the code. Names,
arguments and results match Flink 2.2 and are tested against recorded results. Known differences
are stated. *Since* is the Flink version that added a function, if it is 2.1 or later. A function
that is in no table is refused, with the closest known name.
"""
_METRICS_HEAD = """\
# Metrics

`python -m streamtable.cli.reference` generates this page from the declarations in the code.

- `run --metrics-port PORT` serves the metrics for Prometheus at `/metrics`.
- `Session.start(...).metrics()` returns them to a program.
- The status line of `run` shows the most important ones, every second on a terminal and otherwise
  once per minute.

In Prometheus, names start with `streamtable_`, and counters end with `_total`. The labels are
`table` or `query`, and the listed labels. Counters are updated when a task ends: at the end of a
micro-batch, and at each checkpoint in real-time mode. `streamtable_job_info` has the value 1, and
the name of the job as its label `job_name`.

[Operate jobs](../operate/jobs.md#dashboard-and-alerts) has a dashboard and alert rules.
"""
_INGESTION_HEAD = """\
# Keys of a job file

Written by `python -m streamtable.cli.reference` from the declarations in the code.
[ingestion.md](../tables/ingestion.md) says what a data ingestion job does.
"""
_CLIENT = (
    "All other `{0}*` options are passed to the clients without the prefix, under the names of the"
    " clients' documentation. Serializers and deserializers cannot be set."
)
_PREFIXES = (
    "Keys start with the format's name: `{0}.<option>`, or `key.{0}.<option>` and"
    " `value.{0}.<option>` if key and value use different formats."
)


def options_page() -> str:
    """Return the expected page of options."""
    return "\n".join([_HEAD, *_sections()]).rstrip() + "\n"


def _spark_settings() -> Iterator[str]:
    for key, fixed in FIXED.items():
        yield f"- `{key}`: always `{fixed.value}`: {fixed.reason}"
    for key, instead in GOVERNED.items():
        yield f"- `{key}`: {instead}"


def _sections() -> Iterator[str]:
    for name, factory in CONNECTORS.items():
        client = (
            f"\n\n{_CLIENT.format(factory.options.passthrough)}"
            if factory.options.passthrough
            else ""
        )
        yield f"## Connector `{name}`\n\n{_table(factory.options)}{client}\n"
    yield (
        "## Tables with a watermark\n\nThe tables of every connector have these options.\n\n"
        f"{_table(WATERMARK_OPTIONS)}\n"
    )
    for name, format_ in FORMATS.items():
        yield f"## Format `{name}`\n\n{_PREFIXES.format(name)}\n\n{_table(format_.options)}\n"
    for name, kind in CATALOG_TYPES.items():
        client = _CLIENT.format(kind.options.passthrough)
        yield f"## Catalog type `{name}`\n\n{_table(kind.options)}\n\n{client}\n"
    if NOT_YET:
        lacking = ", ".join(f"`{name}`" for name in NOT_YET)
        yield f"## Formats that are not supported yet\n\n{lacking}\n"
    yield (
        "## Settings\n\nUse `SET 'key' = 'value'` in a script, or `--set key=value`, which"
        f" overrides the script.\n\n{_table(SETTINGS)}\n\nOther `spark.*` settings are passed to"
        " Spark. A setting that Spark does not know is refused with the closest known one. A"
        " setting in a plugin's namespace is reported and passed on. These are refused:\n\n"
        + "\n".join(_spark_settings())
        + "\n"
    )


def _table(options: OptionSet) -> str:
    lines = ["| Option | Type | Default | Meaning |", "|---|---|---|---|"]
    for key, kind, default, doc in documented([options]):
        shown = default if default in ("required", "(none)", "") else f"`{default}`"
        lines.append(f"| `{key}` | {kind} | {shown} | {doc.replace('|', '&#124;')} |")
    return "\n".join(lines)


def metrics_page() -> str:
    """Return the expected page of metrics."""
    return "\n".join([_METRICS_HEAD, *_metrics()]).rstrip() + "\n"


def _metrics() -> Iterator[str]:
    for owner in Owner:
        lines = ["| Metric | Labels | Meaning |", "|---|---|---|"]
        for metric in METRICS:
            if metric.owner is owner:
                name = f"{metric.name}_total" if metric.counter else metric.name
                shown = f"`{metric.name}`" + (f", `{name}`" if metric.counter else "")
                lines.append(f"| {shown} | {', '.join(metric.labels)} | {metric.doc} |")
        yield f"## Metrics of {owner.value}\n\n" + "\n".join(lines) + "\n"


def ingestion_page() -> str:
    """Return the expected page of the keys of a job file."""
    return "\n".join([_INGESTION_HEAD, *_job_sections()]).rstrip() + "\n"


def _job_sections() -> Iterator[str]:
    for section in SECTIONS:
        each = ", a list" if section in (ROUTE, TRANSFORM) else ""
        yield f"## `{section.name}`{each}\n\n{_table(OptionSet(section.name, section.options))}\n"
        if section.prefixes:
            yield "".join(f"- `{key}*`: {what}\n" for key, what in section.prefixes.items())
        if section.refused:
            refused = "\n".join(f"- `{key}`: {why}" for key, why in section.refused.items())
            yield f"Known, and refused by name:\n\n{refused}\n"


def functions_page() -> str:
    """Return the expected page of functions."""
    return "\n".join([_FUNCTIONS_HEAD, *_chapters()]).rstrip() + "\n"


def _chapters() -> Iterator[str]:
    for category in Category:
        known = [f for f in FUNCTIONS.values() if f.category is category]
        rows = [_function(f) for f in known if f.available]
        if rows:
            head = "| Function | Arguments | Since | Meaning |\n|---|---|---|---|\n"
            yield f"## {category.value}\n\n{head}" + "\n".join(rows) + "\n"
    placed = [f for f in FUNCTIONS.values() if f.placed]
    rows = [f"| `{f.name}` | {f.instead} |" for f in placed]
    head = "| Function | Place |\n|---|---|\n"
    yield (
        "## Windows\n\nThese functions are used in special clauses.\n\n"
        + head
        + "\n".join(rows)
        + "\n"
    )
    lacking = [f for f in FUNCTIONS.values() if f.lacking]
    rows = [f"| `{f.name}` | {_since(f)} | {f.instead} |" for f in lacking]
    head = "| Function | Since | Instead |\n|---|---|---|\n"
    yield (
        "## Not supported yet\n\nThese functions are refused by name.\n\n"
        + head
        + "\n".join(rows)
        + "\n"
    )


def _function(function: Function) -> str:
    usages = dict.fromkeys(o.usage() for o in function.overloads if o.lacking is None)
    arguments = " or ".join(usages).replace("|", "&#124;")
    differs = DIFFERENCES.get(function.name)
    meaning = f"{function.doc} *Differs:* {differs}" if differs else function.doc
    name = function.name.replace("|", "&#124;")
    return f"| `{name}` | {arguments} | {_since(function)} | {meaning} |"


def _since(function: Function) -> str:
    return SINCE.get(function.name, "")


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    for page, text in (
        (PAGE, options_page()),
        (FUNCTIONS_PAGE, functions_page()),
        (METRICS_PAGE, metrics_page()),
        (INGESTION_PAGE, ingestion_page()),
    ):
        page.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{page}\n")
