"""The start of a scan: startup options of the table -> Spark's starting options.

Spark uses them on the first start only. Later starts continue at the offsets of the checkpoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from streamtable.connectors.kafka.cluster.admin import KafkaAdmin, Partition
from streamtable.connectors.kafka.cluster.positions import offsets_json
from streamtable.connectors.kafka.options.options import STARTUP_OFFSETS, StartupMode
from streamtable.connectors.kafka.read.bounds import check_named, topics_of
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError

#: Kafka's numbers for the first offset and the end of a partition.
EARLIEST, _LATEST = -2, -1

#: Values of `properties.auto.offset.reset`; `none` refuses a start without a valid offset.
_RESETS = {"earliest": EARLIEST, "latest": _LATEST, "none": None}

_RESET = "properties.auto.offset.reset"


@dataclass(frozen=True)
class _Start:
    """Offsets at which the script or the group starts a scan.

    Attributes:
        named: the offsets; partitions without one start at the reset position.
        begins: the first offset of each partition.
        ends: the end offset of each partition.
    """

    named: Mapping[Partition, int]
    begins: Mapping[Partition, int]
    ends: Mapping[Partition, int]

    @classmethod
    def read(cls, table: KafkaTable, topics: tuple[str, ...], admin: KafkaAdmin) -> Self:
        """Ask the brokers; raises OPTION_CONFLICT for a partition that does not exist."""
        group = table.group_id
        try:
            committed = admin.committed_offsets(group, topics) if group else {}
        except StreamtableError as error:  # such as a group that the user may not see
            raise error.located(table.at) from None
        begins, ends = admin.begin_offsets(topics), admin.end_offsets(topics)
        script = {(t, p): offset for t in topics for p, offset in table.startup.offsets.items()}
        check_named(table, "starts", STARTUP_OFFSETS, script, ends)
        named = {p: offset for p, offset in {**committed, **script}.items() if p in ends}
        return cls(named, begins, ends)

    @property
    def lost(self) -> Mapping[Partition, int]:
        """The named offsets that their partitions do not have."""
        return {p: o for p, o in self.named.items() if not self.begins[p] <= o <= self.ends[p]}

    def offsets(self, reset: int) -> dict[Partition, int]:
        """Return the offset of each partition, with the position of partitions without one."""
        valid = self.named.keys() - self.lost
        return {p: self.named[p] if p in valid else reset for p in self.ends}

    def skipped(self, reset: int) -> Iterator[str]:
        """Yield a clause for each partition that does not start at its named offset."""
        for p, offset in sorted(self.lost.items()):
            start = self.begins[p] if reset == EARLIEST else self.ends[p]
            yield f"partition {p[1]} of '{p[0]}' starts at offset {start}, " + (
                f"and offsets {offset} to {start - 1} are skipped"
                if offset < start
                else f"because offset {offset} is beyond its end {self.ends[p]}"
            )


def starting_offsets(table: KafkaTable, admin: KafkaAdmin, bounded: bool) -> dict[str, str]:
    """Return Spark's starting options of a startup mode.

    Raises:
        StreamtableError: OPTION_CONFLICT if the script names a partition that does not exist;
            INVALID_OPTION.
    """
    startup = table.startup
    match startup.mode:
        case StartupMode.EARLIEST:
            return {"startingOffsets": "earliest"}
        case StartupMode.LATEST:
            return {"startingOffsets": "latest"}
        case StartupMode.TIMESTAMP:
            return {
                "startingTimestamp": str(startup.timestamp_ms),
                "startingOffsetsByTimestampStrategy": "latest",
            }
        case _:
            reset = _reset(table, bounded)
            if reset is None:
                reset = _LATEST  # not used: `startup_notices` refuses a first start
            start = _Start.read(table, topics_of(table, admin), admin)
            if not start.named:
                return {"startingOffsets": "earliest" if reset == EARLIEST else "latest"}
            return starting_at(start.offsets(reset))


def starting_at(offsets: Mapping[Partition, int]) -> dict[str, str]:
    """Return Spark's starting options for an offset of each partition."""
    return {"startingOffsets": offsets_json(offsets)}


def startup_notices(table: KafkaTable, admin: KafkaAdmin, bounded: bool) -> Iterator[str]:
    """Yield a line for each default position of a first start, and for skipped records.

    Raises:
        StreamtableError: OPTION_CONFLICT if the script names a partition that does not exist, or if
            `properties.auto.offset.reset` allows no other position than committed offsets.
    """
    mode = table.startup.mode
    if mode not in (StartupMode.GROUP, StartupMode.SPECIFIC):
        return
    there = admin.topics()  # the job creates the others
    topics = tuple(topic for topic in topics_of(table, admin) if topic in there)
    reset, start = _reset(table, bounded), _Start.read(table, topics, admin)
    if reset is None:
        _check_committed(table, start)
        return
    if mode is StartupMode.GROUP:
        group = f"group '{table.group_id}'" if table.group_id else "no consumer group"
        where = "earliest" if reset == EARLIEST else "latest"
        yield (
            f"{table.table}: 'scan.startup.mode' is group-offsets with {group}; partitions without"
            f" a committed offset start at the {where} offset"
        )
    if start.lost:
        yield (
            f"{table.table}: 'scan.startup.mode' is {mode.value}, but partitions do not have these"
            f" offsets: {'; '.join(start.skipped(reset))}"
        )


def _check_committed(table: KafkaTable, start: _Start) -> None:
    for partition in sorted(start.ends.keys() - (start.named.keys() - start.lost)):
        found = start.named.get(partition)
        wrong = "there is no" if found is None else f"{found} is the"
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=table.at,
            reason=(
                f"{table.table} sets '{_RESET}' = 'none', but {wrong} committed offset for"
                f" partition {partition[1]} of '{partition[0]}', which begins at offset"
                f" {start.begins[partition]} and ends at offset {start.ends[partition]}"
            ),
            hint=f"set '{_RESET}' to 'earliest' or 'latest', or use another group",
        )


def _reset(table: KafkaTable, bounded: bool) -> int | None:
    """Return the start position of partitions without a valid offset; None to refuse the start.

    Specific offsets start at the earliest offset instead (Flink's rule). Group offsets start at the
    latest offset, unless `properties.auto.offset.reset` sets another position. A bounded run of a
    script without a startup mode starts at the earliest offset: it has to process the existing
    records, and there are none after the latest offset.
    """
    if table.startup.mode is StartupMode.SPECIFIC:
        return EARLIEST
    reset = table.properties.get("auto.offset.reset")
    if reset is None:
        return EARLIEST if bounded and not table.startup.explicit else _LATEST
    if reset not in _RESETS:
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=table.at,
            option=_RESET,
            value=reset,
            expected="'earliest', 'latest' or 'none'",
        )
    return _RESETS[reset]
