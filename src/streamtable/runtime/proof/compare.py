"""Compare the rows of both sides: by the key of the sink, or by the count of each row."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name everyone knows

from streamtable.batch.comparable import comparable, holds_map
from streamtable.core.types import APPROXIMATE, Field, Root, quote

#: Relative difference up to which sums are equal that were added in different orders.
TOLERANCE = {Root.DOUBLE: "1e-9D", Root.FLOAT: "1e-5D"}

#: Number of differing keys that are shown.
SHOWN = 10

_PARTS = 1_000_000

#: Names of the rows that `matches` compares.
EXPECTED, FOUND = "__e", "__found"

#: A digest does not depend on the order of the rows.
_DIGEST = "sum(CAST(digest AS DECIMAL(38, 0)))"


class Verdict(Enum):
    """The result for a key, or for a row of a sink without a key."""

    EQUAL = "equal"
    #: The sink lacks the key.
    MISSING = "missing"
    #: The sink has a key that the answer lacks.
    EXTRA = "extra"
    #: The sink has another row.
    CHANGED = "changed"
    #: Only sums of FLOAT or DOUBLE differ, by more than the tolerance.
    ROUNDED = "rounded"
    #: The sink has the row more often than the answer.
    REPEATED = "repeated"


@dataclass(frozen=True)
class Compared:
    """Both sides joined: `key`, `expected` and `found` as JSON texts, and `verdict`.

    With a key, `digest` is a hash of the row of the sink.
    """

    frame: DataFrame

    def counts(self) -> tuple[dict[Verdict, int], str | None]:
        """Return the number of keys by verdict, and the digest of the sink; runs the Spark job."""
        columns = ["verdict", *(["digest"] if "digest" in self.frame.columns else [])]
        counted = self.frame.select(*columns).groupBy("verdict")
        total = _DIGEST if "digest" in columns else "NULL"
        rows = counted.agg(F.expr("count(*)"), F.expr(total)).collect()
        digests = [digest for _, _, digest in rows if digest is not None]
        counts = {Verdict(verdict): int(count) for verdict, count, _ in rows}
        return counts, str(int(sum(digests))) if "digest" in columns else None

    def of_key(self, key: str) -> Compared:
        """Return the comparison of one key, as JSON."""
        return Compared(self.frame.where(self.frame["key"] == key))

    def examples(self) -> list[tuple[str, str | None, str | None]]:
        """Return the first differing keys, in the order of their texts; runs the job again."""
        quiet = ", ".join(f"'{v.value}'" for v in (Verdict.EQUAL, Verdict.REPEATED))
        rows = self.frame.where(f"verdict NOT IN ({quiet})").orderBy("key").limit(SHOWN)
        return [(r["key"], r["expected"], r["found"]) for r in rows.collect()]


def digest_of(rows: DataFrame, fields: Sequence[Field]) -> tuple[int, str]:
    """Return the number of rows and their digest, whatever their order; runs a Spark job."""
    hashed = rows.selectExpr(f"{_hash('', fields)} AS digest")
    count, total = hashed.agg(F.expr("count(*)"), F.expr(_DIGEST)).collect()[0]
    return int(count), str(int(total or 0))


def key_text(fields: Sequence[Field], key: Sequence[str]) -> str:
    """Return Spark SQL of the key of a row, as `Compared.frame` has it.

    Args:
        fields: the compared columns.
        key: the key of the sink; without a key, the whole row.
    """
    if key:
        return as_json(f"struct({', '.join(map(quote, key))})")
    columns = (f"{comparable(quote(f.name), f.type)} AS {quote(f.name)}" for f in fields)
    return as_json(f"struct({', '.join(columns)})")


def sampled(
    rows: DataFrame, fields: Sequence[Field], key: Sequence[str], share: float
) -> DataFrame:
    """Return the rows of a share of the keys; without a key, of a share of the rows.

    Args:
        rows: one side.
        fields: its fields.
        key: the key of the sink.
        share: 0 to 1. The same keys are chosen in both sides.
    """
    if share >= 1:
        return rows
    hashed = [
        quote(f.name)
        for f in fields
        if (f.name in key if key else not holds_map(f.type) and f.type.root not in APPROXIMATE)
    ]
    if not hashed:
        return rows
    limit = round(share * _PARTS)
    return rows.where(f"pmod(xxhash64({', '.join(hashed)}), {_PARTS}) < {limit}")


def by_key(
    expected: DataFrame,
    found: DataFrame,
    fields: Sequence[Field],
    key: Sequence[str],
    rounded: Collection[str],
) -> Compared:
    """Compare the rows of each key.

    If the answer has several rows of a key, the sink has the one that was written last. Each of
    them is then accepted.

    Args:
        expected: rows of the answer.
        found: rows of the sink, one per key.
        fields: columns of both.
        key: columns that identify a row.
        rounded: columns that are equal up to `TOLERANCE`.
    """
    keys = [f"__key_{i}" for i in range(len(key))]
    named = [f"{quote(k)} AS {name}" for k, name in zip(key, keys, strict=True)]
    packed = f"struct({', '.join(quote(f.name) for f in fields)})"
    ours = expected.selectExpr(*named, f"{packed} AS __row").groupBy(*keys)
    left = ours.agg({"__row": "collect_list"}).toDF(*keys, "__expected").alias("e")
    right = found.selectExpr(*named, f"{packed} AS __found").alias("f")
    joined = left.join(right, F.expr(_same_key(keys)), "full")
    exact = matches(fields, [f.name for f in fields if f.name not in rounded and f.name not in key])
    near = matches(fields, [f.name for f in fields if f.name in rounded], near=True)
    verdict = (
        "CASE WHEN __expected IS NULL THEN 'extra' WHEN __found IS NULL THEN 'missing'"
        f" WHEN exists(__expected, __e -> {exact} AND {near}) THEN 'equal'"
        f" WHEN exists(__expected, __e -> {exact}) THEN 'rounded' ELSE 'changed' END"
    )
    shown = ", ".join(
        f"coalesce(e.{name}, f.{name}) AS {quote(k)}" for k, name in zip(key, keys, strict=True)
    )
    return Compared(
        joined.selectExpr(
            f"{as_json(f'struct({shown})')} AS key",
            f"{as_json('__expected[0]')} AS expected",
            f"{as_json('__found')} AS found",
            f"{verdict} AS verdict",
            f"if(__found IS NULL, 0L, {_hash('__found.', fields)}) AS digest",
        )
    )


def by_count(
    expected: DataFrame, found: DataFrame, fields: Sequence[Field], *, may_repeat: bool
) -> Compared:
    """Compare how often each row occurs.

    Args:
        expected: rows of the answer.
        found: rows of the sink.
        fields: columns of both.
        may_repeat: whether a row may occur more often in the sink, after a crash.
    """
    keys = [f"__key_{i}" for i in range(len(fields))]
    columns = [
        f"{comparable(quote(f.name), f.type)} AS {name}"
        for f, name in zip(fields, keys, strict=True)
    ]
    left = expected.selectExpr(*columns).groupBy(*keys).count().toDF(*keys, "__expected")
    right = found.selectExpr(*columns).groupBy(*keys).count().toDF(*keys, "__found")
    joined = left.alias("e").join(right.alias("f"), F.expr(_same_key(keys)), "full")
    more = Verdict.REPEATED if may_repeat else Verdict.EXTRA
    verdict = (
        "CASE WHEN __expected IS NULL THEN 'extra' WHEN coalesce(__found, 0) < __expected"
        f" THEN 'missing' WHEN __found > __expected THEN '{more.value}' ELSE 'equal' END"
    )
    shown = ", ".join(
        f"coalesce(e.{name}, f.{name}) AS {quote(f.name)}"
        for f, name in zip(fields, keys, strict=True)
    )
    return Compared(
        joined.selectExpr(
            f"{as_json(f'struct({shown})')} AS key",
            "concat(__expected, ' times') AS expected",
            "concat(__found, ' times') AS found",
            f"{verdict} AS verdict",
        )
    )


def _same_key(keys: Sequence[str]) -> str:
    return " AND ".join(f"e.{name} <=> f.{name}" for name in keys)


def matches(fields: Sequence[Field], names: Collection[str], *, near: bool = False) -> str:
    """Return Spark SQL of a condition: the row `EXPECTED` has the values of the row `FOUND`.

    Args:
        fields: the fields of both rows.
        names: names of the compared fields.
        near: whether FLOAT and DOUBLE are equal up to `TOLERANCE`.
    """
    conditions = []
    for field in fields:
        if field.name not in names:
            continue
        one, other = (f"{row}.{quote(field.name)}" for row in (EXPECTED, FOUND))
        same = f"{comparable(one, field.type)} <=> {comparable(other, field.type)}"
        tolerance = TOLERANCE.get(field.type.root) if near else None
        if tolerance is not None:
            largest = f"greatest(abs({one}), abs({other}))"
            close = f"abs({one} - {other}) <= {tolerance} * {largest}"
            same = f"({same} OR coalesce({close}, false))"
        conditions.append(f"({same})")
    return " AND ".join(conditions) or "TRUE"


def _hash(row: str, fields: Sequence[Field]) -> str:
    values = ", ".join(comparable(f"{row}{quote(f.name)}", f.type) for f in fields)
    return f"xxhash64({values})"


def as_json(value: str) -> str:
    """Return Spark SQL of the JSON text of a row, with its NULLs."""
    return f"to_json({value}, map('ignoreNullFields', 'false'))"
