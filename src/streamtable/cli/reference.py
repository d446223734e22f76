"""`python -m streamtable.cli.reference`: pages of what is declared: options, functions, metrics.

Run in the checkout after one has changed; a test holds the pages against the declarations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from streamtable.connectors.registry import CONNECTORS
from streamtable.core.options import OptionSet, documented
from streamtable.core.settings import SETTINGS
from streamtable.formats.registry import FORMATS, NOT_YET
from streamtable.plan.functions import FUNCTIONS, SINCE, Category, Function
from streamtable.plan.functions.differences import DIFFERENCES
from streamtable.runtime.metric_names import METRICS, Owner

#: Where the pages lie, from the root of the checkout.
PAGE = Path("docs", "reference", "options.md")
FUNCTIONS_PAGE = Path("docs", "reference", "functions.md")
METRICS_PAGE = Path("docs", "reference", "metrics.md")

_HEAD = """\
# Options

Written by `python -m streamtable.cli.reference` from the declarations in the code; the same tables
come from `streamtable options NAME`. A key that stands in none of them is refused, with the nearest
known one. Options that are "not there yet" are known: their default may be given, any other value
is refused.
"""
_FUNCTIONS_HEAD = """\
# Functions

Written by `python -m streamtable.cli.reference` from the table in the code. Names, arguments and
results are those of Flink 2.2, against whose recorded answers they are tested; what knowingly
differs says so. *Since* is the version of Flink that brought a function, where that is 2.1 or
later. A function that is in no table is refused, with the nearest known name.
"""
_METRICS_HEAD = """\
# Metrics

Written by `python -m streamtable.cli.reference` from the declarations in the code. `run
--metrics-port PORT` serves them for Prometheus at `/metrics`, `Session.start(...).metrics()` gives
them to a program, and the status line of `run` shows the most telling ones, on a terminal every
second, elsewhere a line a minute. In Prometheus a name has `streamtable_` before it and, where it
only rises, `_total` behind it; its labels are `table` or `query` and those listed. Counts rise when
a task has ended: at the end of a micro-batch, and at each checkpoint of real-time mode.
"""
_CLIENT = (
    "Any other `properties.*` goes to the Kafka clients with the prefix removed, as *Kafka"
    " Configuration* names it; serializers and deserializers cannot be set."
)
_PREFIXES = (
    "Keys stand under the format's name: `{0}.<option>`, or `key.{0}.<option>` and"
    " `value.{0}.<option>` where the sides differ."
)


def options_page() -> str:
    """The page as it must be."""
    return "\n".join([_HEAD, *_sections()]).rstrip() + "\n"


def _sections() -> Iterator[str]:
    for name, factory in CONNECTORS.items():
        yield f"## Connector `{name}`\n\n{_table(factory.options)}\n\n{_CLIENT}\n"
    for name, format_ in FORMATS.items():
        yield f"## Format `{name}`\n\n{_PREFIXES.format(name)}\n\n{_table(format_.options)}\n"
    if NOT_YET:
        lacking = ", ".join(f"`{name}`" for name in NOT_YET)
        yield f"## Formats that are not there yet\n\n{lacking}\n"
    yield (
        "## Settings\n\nFor `SET 'key' = 'value'` in a script and `--set key=value` beside it,"
        f" which wins.\n\n{_table(SETTINGS)}\n\n`spark.*` goes to Spark, except for what a job"
        " relies on.\n"
    )


def _table(options: OptionSet) -> str:
    lines = ["| Option | Type | Default | Meaning |", "|---|---|---|---|"]
    for key, kind, default, doc in documented([options]):
        shown = default if default in ("required", "(none)", "") else f"`{default}`"
        lines.append(f"| `{key}` | {kind} | {shown} | {doc.replace('|', '&#124;')} |")
    return "\n".join(lines)


def metrics_page() -> str:
    """The page of metrics as it must be."""
    return "\n".join([_METRICS_HEAD, *_metrics()]).rstrip() + "\n"


def _metrics() -> Iterator[str]:
    for owner in Owner:
        lines = ["| Metric | Labels | Meaning |", "|---|---|---|"]
        for metric in METRICS:
            if metric.owner is owner:
                name = f"{metric.name}_total" if metric.counter else metric.name
                shown = f"`{metric.name}`" + (f", `{name}`" if metric.counter else "")
                lines.append(f"| {shown} | {', '.join(metric.labels)} | {metric.doc} |")
        yield f"## Of {owner.value}\n\n" + "\n".join(lines) + "\n"


def functions_page() -> str:
    """The page of functions as it must be."""
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
    yield "## Windows\n\nThere, in clauses of their own.\n\n" + head + "\n".join(rows) + "\n"
    lacking = [f for f in FUNCTIONS.values() if f.lacking]
    rows = [f"| `{f.name}` | {_since(f)} | {f.instead} |" for f in lacking]
    head = "| Function | Since | Instead |\n|---|---|---|\n"
    yield "## Not there yet\n\nKnown, and refused by name.\n\n" + head + "\n".join(rows) + "\n"


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
    ):
        page.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{page}\n")
