"""`python -m streamtable.cli.reference`: the page of options, written from their declarations.

Run in the checkout after an option has changed; a test holds the page against the declarations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from streamtable.connectors.registry import CONNECTORS
from streamtable.core.options import OptionSet, documented
from streamtable.core.settings import SETTINGS
from streamtable.formats.registry import FORMATS, NOT_YET

#: Where the page lies, from the root of the checkout.
PAGE = Path("docs", "reference", "options.md")

_HEAD = """\
# Options

Written by `python -m streamtable.cli.reference` from the declarations in the code; the same tables
come from `streamtable options NAME`. A key that stands in none of them is refused, with the nearest
known one. Options that are "not there yet" are known: their default may be given, any other value
is refused.
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


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(options_page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
