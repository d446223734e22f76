"""The lists of the compatibility page: the features of Flink 2.2, and their state here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from tests.compat.inventory.state import HERE, Case, State, cases, state, way_out

from streamtable.catalog.lacking import NOT_YET as CONNECTORS_NOT_YET
from streamtable.connector_api.catalogs import CATALOG_TYPES
from streamtable.connector_api.connectors import CONNECTORS
from streamtable.core.settings.declared import SETTINGS
from streamtable.core.settings.flink import NO_EFFECT, REFUSED, flink_settings
from streamtable.core.watermark_options import OPTIONS as WATERMARK_OPTIONS
from streamtable.formats.registry import FORMATS, OF_FILES
from streamtable.formats.registry import NOT_YET as FORMATS_NOT_YET
from streamtable.plan.functions import AGGREGATES, FUNCTIONS, SINCE
from streamtable.plan.over.calls import NOT_IN_STREAMS

#: Connectors of Flink's own tests and of its Python API; no script names them.
INTERNAL = frozenset({"python-arrow-source", "python-input-format"})
#: Options of Kafka tables that Flink accepts and streamtable refuses as unknown -> why.
OPTIONS_GONE = {
    ("kafka", "sink.semantic"): "the older name of `sink.delivery-guarantee`; write that",
    ("avro", "codec"): "it compresses files; records of Kafka are compressed by its producer",
}


def lists() -> Iterator[str]:
    """Yield the sections."""
    yield _section("Statements", _table("Statement", cases("statements")))
    for chapter, found in groupby(cases("clauses"), key=lambda case: case.chapter):
        yield _section(chapter, _table("Clause", found))
    yield _section("Functions", _functions())
    yield _section("Connectors, formats and catalogs", _factories())
    yield _section("Settings", _settings())


def factories() -> dict[str, dict[str, list[str]]]:
    """Return the declared options of Flink's factories: kind -> name -> keys."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for line in (HERE / "factories.txt").read_text(encoding="utf-8").splitlines():
        kind, name, *option = line.split("\t")
        if name not in INTERNAL:
            found[kind][name] += option[:1]
    return found


def _section(title: str, lines: Iterable[str]) -> str:
    return f"## {title}\n\n" + "\n".join(lines) + "\n"


def _table(heading: str, found: Iterable[Case]) -> Iterator[str]:
    yield f"| {heading} | State | |"
    yield "|---|---|---|"
    for case in found:
        here = state(case)
        reason = "" if here is State.WORKS else _plain(way_out(case))
        yield f"| {_plain(case.name)} | {here.value} | {reason} |"


def _functions() -> Iterator[str]:
    scalar = sorted(name for name, found in FUNCTIONS.items() if not found.lacking)
    lacking = {name: found.instead for name, found in FUNCTIONS.items() if found.lacking}
    aggregates = {name: found.available for name, found in AGGREGATES.items()}
    yield "Scalar functions and those of windows that work: " + _codes(scalar) + ".\n"
    there = sorted(name for name, works in aggregates.items() if works)
    yield "Aggregate functions that work: " + _codes(there) + ".\n"
    gone = {name for name, works in aggregates.items() if not works}
    yield (
        "Flink refuses these aggregates in streams, too: " + _codes(sorted(NOT_IN_STREAMS)) + ".\n"
    )
    if gone - NOT_IN_STREAMS:
        rest = _codes(sorted(gone - NOT_IN_STREAMS))
        yield f"Aggregate functions that are not supported yet: {rest}.\n"
    yield "Other functions that are not supported yet:\n"
    yield "| Function | Flink | |"
    yield "|---|---|---|"
    for name, instead in sorted(lacking.items()):
        yield f"| `{name}` | {SINCE.get(name, '2.2')} | {_plain(instead or '')} |"


def _factories() -> Iterator[str]:
    flink = factories()
    yield "| | Works | Not supported yet |"
    yield "|---|---|---|"
    for kind, ours, lacking in (
        ("connector", CONNECTORS, CONNECTORS_NOT_YET),
        ("format", [*FORMATS, *OF_FILES], FORMATS_NOT_YET),
    ):
        yield f"| {kind.capitalize()}s | {_codes(sorted(ours))} | {_codes(sorted(lacking))} |"
    catalogs = _codes(["generic_in_memory", *sorted(CATALOG_TYPES)])
    yield f"| Catalogs | {catalogs} | `hive`, `jdbc` |\n"
    yield "Of the options of those that work these are unknown:\n"
    for kind, ours in (("connector", CONNECTORS), ("format", FORMATS)):
        for owner in sorted(ours.keys() & flink[kind].keys()):
            for key in unknown_options(ours, owner, flink[kind][owner]):
                yield f"- {kind} `{owner}`: `{key}`: {OPTIONS_GONE[owner, key]}"
    honoured = [option.key for option in WATERMARK_OPTIONS.options if not option.no_effect]
    yield f"\nTables with a watermark: {_codes(honoured)}. Accepted with a notice:\n"
    for option in WATERMARK_OPTIONS.options:
        if option.no_effect:
            yield f"- `{option.key}`: {_plain(option.no_effect)}"


def unknown_options(ours: Mapping[str, object], owner: str, keys: Iterable[str]) -> list[str]:
    """Return the keys of Flink that streamtable's connector or format of this name lacks."""
    options = ours[owner].options  # type: ignore[attr-defined]
    known = {key for option in options.options for key in (option.key, *option.fallback_keys)}
    return [key for key in keys if key not in known and "#" not in key]


def _settings() -> Iterator[str]:
    ours = {option.key for option in SETTINGS.options}
    flink = {setting.key for setting in flink_settings()}
    yield "Honoured: " + _codes(sorted(ours & flink)) + ".\n"
    yield "Refused with any other value than Flink's default:\n"
    for key, reason in sorted(REFUSED.items()):
        yield f"- `{key}`: {_plain(reason)}"
    yield "\nAccepted with a notice, because they have no effect (all keys that begin so):\n"
    by_reason: dict[str, list[str]] = defaultdict(list)
    for begin, reason in NO_EFFECT.items():
        by_reason[reason].append(begin)
    for reason, begins in sorted(by_reason.items()):
        yield f"- {_plain(reason)}: {_codes(sorted(begins))}"


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _plain(text: str) -> str:
    """Escape the markup characters of a text."""
    for character in "*_<>`[]|":
        text = text.replace(character, f"\\{character}")
    return text
