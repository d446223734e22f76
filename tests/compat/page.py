"""`python -m tests.compat.page`: write the page on compatibility with Flink SQL.

Statements, functions and options come from the tables that the front end refuses them with, forms
of clauses and queries from the golden refusals, and differences from the lists of known differences
in the tests against Flink's answers.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.compat.functions import functions_known
from tests.compat.inventory.lists import lists
from tests.compat.match import match_known
from tests.compat.over import over_known
from tests.compat.statements import known as statements_known
from tests.compat.temporal import temporal_known
from tests.compat.windows import known as windows_known

from streamtable.connector_api.connectors import CONNECTORS
from streamtable.core.options import OptionSet
from streamtable.core.settings.declared import SETTINGS
from streamtable.formats.registry import FORMATS
from streamtable.plan.functions import FUNCTIONS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "compatibility.md"

_HEAD = """\
# Compatibility with Flink SQL

Written by `python -m tests.compat.page`. The lists of statements, clauses, functions, connectors,
formats, catalogs, options and settings are those of Flink 2.2: names recorded from Flink itself,
and an example of each statement and clause, which Flink has been asked about and which is run
through streamtable whenever the page is written. Behind them stand forms that are refused, and
answers that differ. What this page does not name works as in Flink.

Whatever is not there is refused with its place in the script. A setting without effect is accepted
with one line that says so; nothing else is accepted and then ignored.
"""
#: Differences of queries that the records of Flink's answers do not contain.
_QUERIES = {
    "groups and partitions by FLOAT and DOUBLE": (
        "-0.0 and 0.0 are one key, with the value 0.0, as in Spark; Flink compares the bytes of"
        " keys, so that each is a group"
    ),
    "joins on FLOAT and DOUBLE": (
        "-0.0 equals 0.0, and NaN equals nothing, as with `=`; Flink compares the bytes of the keys"
    ),
    "SUM, VAR_POP, VAR_SAMP, STDDEV_POP and STDDEV_SAMP of FLOAT": (
        "computed as DOUBLE and rounded at the end; Flink rounds to FLOAT after each row"
    ),
}
_CASE = re.compile(r"-- case: (.*)\n((?:.*\n)*?)-- error:[ ]?(.*)\n")
_NOT_YET = re.compile(r"NOT_YET: (.*?),? is not supported yet(?:\. Hint: (.*))?$")


def page() -> str:
    """Return the text of the page."""
    return "\n".join([_HEAD, *_sections()]).rstrip() + "\n"


def _sections() -> Iterator[str]:
    yield from lists()
    yield _section("Forms that are not supported yet", _clauses())
    yield _section("Functions: forms that are not supported yet", _function_forms())
    yield _section("Options that are not supported yet", _options())
    yield _section("What Flink refuses in streams as well", _refused_by_both())
    yield _section("Answers that differ from Flink's", _differences())


def _section(title: str, lines: Iterable[str]) -> str:
    return f"## {title}\n\n" + "\n".join(lines) + "\n"


def _clauses() -> Iterator[str]:
    """Yield the forms that are not supported yet in the golden refusals, each wording once."""
    found: dict[str, str] = {}
    for file in sorted((ROOT / "tests" / "golden" / "refusals").glob("*.err")):
        for _, _, line in _CASE.findall(file.read_text(encoding="utf-8")):
            refused = _NOT_YET.search(line)
            if refused and not refused[1].startswith(("option ", "function ", "format ")):
                found.setdefault(refused[1], refused[2] or "")
    for what, way_out in sorted(found.items(), key=lambda item: item[0].lower()):
        yield f"- {_plain(what)}" + (f": {_plain(way_out)}" if way_out else "")


def _function_forms() -> Iterator[str]:
    forms = {
        f"- {_plain(overload.lacking)}"
        for function in FUNCTIONS.values()
        for overload in function.overloads
        if overload.lacking is not None
    }
    yield from sorted(forms)


def _options() -> Iterator[str]:
    sets: dict[str, OptionSet] = {
        **{f"connector `{name}`": factory.options for name, factory in CONNECTORS.items()},
        **{f"format `{name}`": found.options for name, found in FORMATS.items()},
        "settings": SETTINGS,
    }
    for owner, options in sets.items():
        for option in options.options:
            if option.not_yet is not None:
                yield f"- {owner}: `{option.key}`: {_plain(option.not_yet)}"


def _refused_by_both() -> Iterator[str]:
    """Yield queries over streams that fail in Flink, too, one query for each error message."""
    found: dict[str, str] = {}
    taken = {*over_known.TAKEN, *match_known.TAKEN}
    for query, answer in _recorded("over/over.json", "match/match.json"):
        if isinstance(answer, str) and query not in taken:
            found.setdefault(answer.partition(" The physical plan")[0], query)
    for answer, query in sorted(found.items()):
        yield f"- `{query}`: {_plain(answer)}"


def _recorded(*names: str) -> Iterator[tuple[str, object]]:
    for name in names:
        record = json.loads((ROOT / "tests" / "compat" / name).read_text(encoding="utf-8"))
        yield from record["answers"].items()


def _differences() -> Iterator[str]:
    yield "Statements:\n"
    for name, reason in sorted(statements_known.DIFFERENT.items()):
        yield f"- {_plain(name)}: {_plain(reason)}"
    yield "\nQueries:\n"
    for sql, reason in (*_QUERIES.items(), *over_known.DIFFERENT.items()):
        yield f"- {_plain(sql)}: {_plain(reason)}"
    for reason in (*match_known.REFUSED.values(), *match_known.NOTES):
        yield f"- MATCH\\_RECOGNIZE: {_plain(reason)}"
    for reason in temporal_known.NOTES:
        yield f"- temporal joins: {_plain(reason)}"
    for reason in dict.fromkeys(known.reason for known in windows_known.DIFFERENCES.values()):
        yield f"- {_plain(reason)}"
    yield "\nFunctions and casts:\n"
    for sql, reason in functions_known.DIFFERENT.items():
        yield f"- `{sql}`: {_plain(reason)}"
    for sql in sorted(functions_known.LENIENT):
        yield f"- `{sql}`: Flink refuses it"
    for sql in sorted(functions_known.REFUSED):
        yield f"- `{sql}`: Flink takes it, and it is refused here"


def _plain(text: str) -> str:
    """Escape the markup characters of a text."""
    return re.sub(r"([*_<>`\[\]])", r"\\\1", text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE.relative_to(ROOT)}\n")
