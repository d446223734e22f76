"""Text -> date or timestamp by a Java pattern: TO_TIMESTAMP, TO_DATE, UNIX_TIMESTAMP.

Valid texts go through Spark's parser; what it refuses is tried again by Flink's laxer rules:
`DateTimeFormatter` pulls 30 February back to the 29th, `java.sql.Timestamp` reads
`2024-2-30 25:00:00` and rolls over, `SimpleDateFormat` rolls every field over.
"""

from __future__ import annotations

from streamtable.core.types import DATE, timestamp
from streamtable.plan.binding.bound import Bound, text_literal
from streamtable.plan.binding.cast_time import from_text, plain_timestamp, truncated
from streamtable.plan.functions.patterns import (
    DEFAULT,
    FieldToken,
    Token,
    fields_of,
    lenient_regex,
    pattern_of,
    shape_of,
    tokens_of,
)

_JDBC = r"^(\d{4})-(\d{1,2})-(\d{1,2})(?: (\d{1,9}):(\d{1,9}):(\d{1,9}(?:\.\d{1,9})?))?$"
_MONTH = r"^\d{4}-0?([1-9]|1[0-2])-(0?[1-9]|[12]\d|3[01])( .*)?$"
#: From this width on, `M` is a name.
_NAMED_MONTH = 3
_LATE_DAY = "(29|30|31)"


def parsed_timestamp(text: str, pattern: Bound | None) -> str:
    """Spark SQL of `TO_TIMESTAMP(text[, pattern])`: TIMESTAMP_NTZ of milliseconds, NULL if none.

    Raises:
        StreamtableError: NOT_YET, for a pattern that we do not read.
    """
    if pattern is None:
        return str(from_text(text, timestamp(3)))
    usual = pattern.constant == DEFAULT
    tries = [plain_timestamp(text) if usual else _strict(text, pattern)]
    clamped = _clamped(text, tokens_of(pattern), pattern)
    tries.extend([clamped] if clamped else [])
    tries.append(_jdbc(text))
    return truncated(f"coalesce({', '.join(tries)})", 6, 3)


def _strict(text: str, pattern: Bound) -> str:
    """Spark's parser, which is `DateTimeFormatter`, but careless of case and of fractions."""
    tokens = tokens_of(pattern)
    shape = text_literal(f"^{shape_of(tokens, pattern)}$")
    read = f"to_timestamp_ntz({text}, {pattern.sql})"
    last = tokens[-1] if tokens else None
    if isinstance(last, FieldToken) and last.letter == "S":
        # Java cannot read a fraction that follows a number at once, so it is read apart.
        read = _with_fraction(text, tokens[:-1], last.width)
    if all(
        field.letter in "yudHhms" or (field.letter == "M" and field.width < _NAMED_MONTH)
        for field in fields_of(tokens)
    ):
        return read
    return f"if({text} RLIKE {shape}, {read}, NULL)"


def _with_fraction(text: str, before: list[Token], digits: int) -> str:
    whole = text_literal(pattern_of(before))
    read = f"to_timestamp_ntz(left({text}, char_length({text}) - {digits}), {whole})"
    fraction = f"CAST(concat('0.', right({text}, {digits})) AS DECIMAL(18, 6))"
    return f"{read} + make_dt_interval(0, 0, 0, {fraction})"


def _clamped(text: str, tokens: list[Token], pattern: Bound) -> str | None:
    """The 29th, 30th or 31st of a month that is shorter, as its last day."""
    days = [i for i, t in enumerate(tokens) if isinstance(t, FieldToken) and t.letter == "d"]
    if len(days) != 1:
        return None
    day = days[0]
    before, after = (shape_of(part, pattern) for part in (tokens[:day], tokens[day + 1 :]))
    shape = text_literal(f"^({before}){_LATE_DAY}({after})$")
    # The same text on the first of its month; Java reads `$101` as group 1 and "01".
    on_first = f"regexp_replace({text}, {shape}, '$101$3')"
    first = f"to_timestamp_ntz({on_first}, {pattern.sql})"
    wanted = f"CAST(regexp_extract({text}, {shape}, 2) AS INT)"
    last = f"day(last_day(CAST({first} AS DATE)))"
    moved = f"{first} + make_dt_interval(least({wanted}, {last}) - 1)"
    return f"if({text} RLIKE {shape}, {moved}, NULL)"


def _jdbc(text: str) -> str:
    """`java.sql.Timestamp.valueOf`: hours, minutes and seconds roll over, and days up to 31."""
    year, month, day, hour, minute, second = (
        f"regexp_extract({text}, {text_literal(_JDBC)}, {group})" for group in range(1, 7)
    )
    start = f"CAST(make_date(CAST({year} AS INT), CAST({month} AS INT), 1) AS TIMESTAMP_NTZ)"
    counts = [f"coalesce(CAST({part} AS INT), 0)" for part in (hour, minute)]
    seconds = f"coalesce(CAST({second} AS DECIMAL(18, 6)), 0)"
    moved = f"make_dt_interval(CAST({day} AS INT) - 1, {counts[0]}, {counts[1]}, {seconds})"
    reads = f"{text} RLIKE {text_literal(_JDBC)} AND {text} RLIKE {text_literal(_MONTH)}"
    return f"if({reads}, {start} + {moved}, NULL)"


def _full_timestamp(text: str) -> str:
    """A text as TIMESTAMP_NTZ where, other than for a cast, it must have a date and a time."""
    return f"if(instr({text}, ' ') > 0, {plain_timestamp(text)}, NULL)"


def lenient(text: str, pattern: Bound | None) -> str:
    """Spark SQL of what `SimpleDateFormat` reads: TIMESTAMP_NTZ, NULL if nothing.

    Raises:
        StreamtableError: NOT_YET, for a pattern that we do not read.
    """
    if pattern is None:
        pattern = Bound(text_literal(DEFAULT), DATE, constant=DEFAULT)
    tokens = tokens_of(pattern)
    shape = text_literal(lenient_regex(tokens, pattern))
    parts = {"y": "1970", "M": "1", "d": "1", "H": "0", "m": "0", "s": "0", "S": "0"}
    for group, field in enumerate(fields_of(tokens), start=1):
        parts[field.letter] = f"CAST(regexp_extract({text}, {shape}, {group}) AS INT)"
    month = f"add_months(make_date({parts['y']}, 1, 1), {parts['M']} - 1)"
    seconds = f"CAST({parts['s']} + {parts['S']} / 1000BD AS DECIMAL(18, 6))"
    clock = f"make_dt_interval({parts['d']} - 1, {parts['H']}, {parts['m']}, {seconds})"
    rolled = f"if({text} RLIKE {shape}, CAST({month} AS TIMESTAMP_NTZ) + {clock}, NULL)"
    if pattern.constant == DEFAULT:
        # The usual text takes one look at its shape instead of seven.
        return f"coalesce({_full_timestamp(text)}, {rolled})"
    return rolled
