"""Functions over regular expressions; both Flink's and Spark's are Java's.

Where a pattern is broken, Flink gives NULL and logs; here the query stops.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import BOOLEAN, INT, STRING, array
from streamtable.plan.binding.bound import Bound, text_literal
from streamtable.plan.functions.kinds import TEXT, WHOLE, constant_text
from streamtable.plan.functions.model import Arguments, Category, Function, Nulls, constant, one

_STRING = Category.STRING


@dataclass
class _Group:
    parent: _Group | None
    number: int | None
    optional: bool = False
    choice: bool = False


def _groups(regex: str) -> list[_Group]:
    """The capturing groups of a Java regular expression, and what may leave them unset."""
    here = _Group(None, 0)
    found = [here]
    closed: _Group | None = None
    position = 0
    in_class = 0
    while position < len(regex):
        char, last = regex[position], closed
        closed = None
        if char == "\\":
            quoted = regex[position + 1 : position + 2] == "Q"
            end = regex.find("\\E", position) if quoted else position
            position = len(regex) if end < 0 else end + 1
        elif char == "[":
            in_class += 1
        elif in_class:
            in_class -= char == "]"
        elif char == "(":
            here = _Group(
                here, len(found) if _captures(regex[position + 1 : position + 4]) else None
            )
            if here.number is not None:
                found.append(here)
            here.optional = regex[position + 1 : position + 3] == "?!"
        elif char == ")" and here.parent is not None:
            closed, here = here, here.parent
        elif char == "|":
            here.choice = True
        elif char in "?*{" and last is not None:
            last.optional = char != "{" or regex[position + 1 : position + 2] == "0"
        position += 1
    return found


def _captures(start: str) -> bool:
    named = start.startswith("?<") and start[2:3] not in ("=", "!")
    return not start.startswith("?") or named


def _may_be_unset(group: _Group) -> bool:
    walk: _Group | None = group
    while walk is not None and walk.number != 0:
        if walk.optional or (walk.parent is not None and walk.parent.choice):
            return True
        walk = walk.parent
    return False


def _group_of(regex: Bound, index: Bound | None, default: int) -> int | None:
    """The number of the group asked for; None where the pattern has no such group.

    Raises:
        StreamtableError: NOT_YET, where the group may be left out of a match: Flink gives NULL
            for it, Spark ''.
    """
    number = default if index is None else int(str(index.constant))
    if regex.constant is None:
        if number == 0:
            return 0
        what = "a group of a regular expression that is no literal"
        raise StreamtableError(Condition.NOT_YET, at=regex.at, what=what)
    groups = _groups(constant_text(regex))
    if not 0 <= number < len(groups):
        return None
    if _may_be_unset(groups[number]):
        what = f"group {number} of '{regex.constant}', which a match may leave out,"
        raise StreamtableError(
            Condition.NOT_YET, at=regex.at, what=what, hint="let it match the empty text instead"
        )
    return number


def _extract(arguments: Arguments) -> str:
    text, regex, *index = arguments
    number = _group_of(regex, index[0] if index else None, 0)
    if number is None:
        return "CAST(NULL AS STRING)"
    found = f"regexp_extract({text.sql}, {regex.sql}, {number})"
    return f"if({text.sql} RLIKE {regex.sql}, {found}, NULL)"


def _extract_all(arguments: Arguments) -> str:
    text, regex, *index = arguments
    number = _group_of(regex, index[0] if index else None, 1)
    if number is None:
        return "CAST(NULL AS ARRAY<STRING>)"
    return f"regexp_extract_all({text.sql}, {regex.sql}, {number})"


def _replace(arguments: Arguments) -> str:
    """The replacement is plain text in Flink: `$1` and backslash mean themselves."""
    text, regex, new = arguments
    if isinstance(new.constant, str):
        plain = text_literal(new.constant.replace("\\", "\\\\").replace("$", "\\$"))
    else:
        plain = literal_replacement(new.sql)
    return f"regexp_replace({text.sql}, {regex.sql}, {plain})"


def literal_replacement(sql: str) -> str:
    """A replacement of `regexp_replace` that stands for itself."""
    return f"replace(replace({sql}, '\\\\', '\\\\\\\\'), '$', '\\\\$')"


def _matches(arguments: Arguments) -> str:
    """An empty pattern matches nothing."""
    text, regex = arguments
    if regex.constant:
        return f"({text.sql} RLIKE {regex.sql})"
    return (
        f"if({regex.sql} = '', if({text.sql} IS NULL, NULL, false), {text.sql} RLIKE {regex.sql})"
    )


_INDEX = constant(WHOLE)

REGEXPS: tuple[Function, ...] = (
    one("REGEXP", _STRING, (TEXT, TEXT), BOOLEAN, _matches, "Whether any part matches."),
    one(
        "REGEXP_COUNT",
        _STRING,
        (TEXT, TEXT),
        INT,
        "regexp_count({0}, {1})",
        "How often it matches.",
        nulls=Nulls.ALWAYS,
    ),
    one(
        "REGEXP_EXTRACT",
        _STRING,
        (TEXT, TEXT, _INDEX),
        STRING,
        _extract,
        "The first match, or a group of it; NULL where there is none.",
        optional=1,
        nulls=Nulls.ALWAYS,
    ),
    one(
        "REGEXP_EXTRACT_ALL",
        _STRING,
        (TEXT, TEXT, _INDEX),
        array(STRING),
        _extract_all,
        "A group of every match.",
        optional=1,
        nulls=Nulls.ALWAYS,
    ),
    one(
        "REGEXP_INSTR",
        _STRING,
        (TEXT, TEXT),
        INT,
        "regexp_instr({0}, {1})",
        "Where the first match begins; 0 if nowhere.",
        nulls=Nulls.ALWAYS,
    ),
    one(
        "REGEXP_REPLACE",
        _STRING,
        (TEXT, TEXT, TEXT),
        STRING,
        _replace,
        "The text with every match replaced.",
    ),
    one(
        "REGEXP_SUBSTR",
        _STRING,
        (TEXT, TEXT),
        STRING,
        "regexp_substr({0}, {1})",
        "The first match; NULL where there is none.",
        nulls=Nulls.ALWAYS,
    ),
)
