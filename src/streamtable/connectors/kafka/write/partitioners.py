"""`sink.partitioner`: the partition of each record of a `kafka` table."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows
from pyspark.sql.types import IntegerType

from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, StreamtableError

#: Partitioner -> its name in `KafkaWriter`.
BUILT_IN = {"default": "DEFAULT", "fixed": "FIXED", "round-robin": "ROUND_ROBIN"}

#: The prefix of errors in a partitioner function, by which `jvm.faults` finds them in Spark's text.
_MARK = "RECORD_UNWRITABLE its 'sink.partitioner'"

#: (key, value, number of partitions) -> partition
Partitioner = Callable[[bytes | None, bytes | None, int], int]


def is_function(table: KafkaTable) -> bool:
    """Return whether the partitioner is a Python function."""
    return ":" in table.partitioner


def java_class(table: KafkaTable) -> str | None:
    """Return the name of the partitioner's Java class, if it is one."""
    if table.partitioner in BUILT_IN or is_function(table):
        return None
    return table.partitioner


def load(table: KafkaTable) -> Partitioner:
    """Load the Python partitioner; raise INVALID_OPTION if it does not exist."""
    module, _, name = table.partitioner.partition(":")
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise _invalid(table, f"a function that can be imported ({error})") from error
    if not callable(found):
        raise _invalid(table, "a function")
    function: Partitioner = found
    return function


def partition_column(table: KafkaTable, partitions: int) -> Column:
    """Return a column with the partition that a function chooses from `key` and `value`."""
    choose = load(table)

    def partition(key: bytearray | None, value: bytearray | None) -> int:
        try:
            found = choose(_plain(key), _plain(value), partitions)
        except Exception as error:
            failed = f"{_MARK} failed with {error!r}"
            raise ValueError(failed) from None
        if found not in range(partitions):
            wrong = f"{_MARK} returned {found}, but the partitions are 0 to {partitions - 1}"
            raise ValueError(wrong)
        return found

    return F.udf(partition, IntegerType(), useArrow=False)("key", "value")


def not_there(table: KafkaTable) -> StreamtableError:
    """Return the error for a Java class that Spark does not find."""
    return _invalid(
        table, "default, fixed, round-robin, module:function, or a class that 'spark.jars' holds"
    )


def _plain(data: bytearray | None) -> bytes | None:
    return None if data is None else bytes(data)


def _invalid(table: KafkaTable, expected: str) -> StreamtableError:
    return StreamtableError(
        Condition.INVALID_OPTION,
        at=table.at,
        option="sink.partitioner",
        value=table.partitioner,
        expected=expected,
    )
