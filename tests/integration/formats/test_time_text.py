"""Texts of dates and times that have a fast path give the values of Java's formatters."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors.exceptions.captured import DateTimeException

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

_MICROS_PER_DAY = 86_400_000_000
_BYTES = "0159 -:.TZé"


def _texts(separator: str, end: str) -> Iterator[str]:
    """Yield timestamps of days that exist or not, and the same with one character changed."""
    dice = random.Random(5)
    for _ in range(60):
        year = dice.choice((0, 1900, 2000, 2023, 2024, 9999, dice.randrange(10_000)))
        date = f"{year:04}-{dice.randrange(14):02}-{dice.randrange(33):02}"
        time = f"{dice.randrange(26):02}:{dice.randrange(62):02}:{dice.randrange(62):02}"
        digits = "".join(dice.choices("0123456789", k=dice.randrange(11)))
        text = f"{date}{separator}{time}{'.' + digits if dice.random() < 0.7 else ''}{end}"
        yield text
        at = dice.randrange(len(text))
        yield text[:at] + dice.choice(_BYTES) + text[at + dice.randrange(2) :]
    for year in (1900, 2000, 2023, 2024):
        for month in (1, 2, 4, 12):
            for day in (28, 29, 30, 31):
                yield f"{year:04}-{month:02}-{day:02}{separator}23:59:59.999999999{end}"


def _value(parse: Callable[[], int]) -> int | None:
    try:
        return parse()
    except DateTimeException:
        return None


def _differences(
    texts: Iterator[str], fast: Callable[[str], int], slow: Callable[[str], int]
) -> list[tuple[str, int | None, int | None]]:
    """Return the texts with two values, after a check that texts of both kinds are there."""
    found = [(text, _value(lambda: fast(text)), _value(lambda: slow(text))) for text in texts]  # noqa: B023
    invalid = sum(expected is None for _, _, expected in found)
    assert 0.2 < invalid / len(found) < 0.8
    return [each for each in found if each[1] != each[2]]


@pytest.mark.parametrize("iso", [False, True], ids=["SQL", "ISO-8601"])
@pytest.mark.parametrize("end", ["", "Z"], ids=["local", "UTC"])
def test_timestamps(spark: SparkSession, iso: bool, end: str) -> None:
    jvm: Any = spark._jvm
    time = jvm.java.time
    formatter = time.format.DateTimeFormatter.ISO_LOCAL_DATE_TIME
    if end or not iso:
        builder = time.format.DateTimeFormatterBuilder()
        builder.append(time.format.DateTimeFormatter.ISO_LOCAL_DATE)
        builder.appendLiteral("T" if iso else " ")
        builder.append(time.format.DateTimeFormatter.ISO_LOCAL_TIME if iso else _time(jvm))
        formatter = builder.appendLiteral(end).toFormatter()

    def slow(text: str) -> int:
        parsed = time.LocalDateTime.parse(text, formatter)
        nanos: int = parsed.toLocalTime().toNanoOfDay()
        days: int = parsed.toLocalDate().toEpochDay()
        return days * _MICROS_PER_DAY + nanos // 1_000

    times = jvm.io.streamtable.codec.TimeText(iso)
    fast = times.parseDateTimeZ if end else times.parseDateTime
    assert _differences(_texts("T" if iso else " ", end), fast, slow) == []


def test_dates(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    texts = (text[:10] for text in _texts(" ", ""))
    fast = jvm.io.streamtable.codec.TimeText.parseDate
    parse = jvm.java.time.LocalDate.parse
    assert _differences(texts, fast, lambda text: parse(text).toEpochDay()) == []


def test_times(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    texts = (text[11:] for text in _texts(" ", ""))
    formatter = _time(jvm)
    parse = jvm.java.time.LocalTime.parse

    def slow(text: str) -> int:
        nanos: int = parse(text, formatter).toNanoOfDay()
        return nanos - nanos % 1_000_000

    text_of_time = jvm.io.streamtable.codec.TimeText
    assert _differences(texts, lambda text: text_of_time.parseTime(text, 3), slow) == []


def _time(jvm: Any) -> Any:
    builder = jvm.java.time.format.DateTimeFormatterBuilder().appendPattern("HH:mm:ss")
    nano = jvm.java.time.temporal.ChronoField.NANO_OF_SECOND
    return builder.appendFraction(nano, 0, 9, True).toFormatter()
