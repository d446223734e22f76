"""Plan PATTERN, AFTER MATCH SKIP and WITHIN."""

from __future__ import annotations

from collections.abc import Sequence

from streamtable.core.errors import closest
from streamtable.core.types import Root
from streamtable.plan.match.navigation import invalid
from streamtable.plan.match.pattern import PatternVariable, Skip, SkipTo
from streamtable.sql.nodes import IntervalLiteral
from streamtable.sql.nodes import MatchRecognize as MatchNode

_MICROS_PER_MILLI = 1000
#: `*` and `?`, which Flink refuses behind a greedy variable. It takes `{0,2}` there.
_OPTIONAL = {(0, None), (0, 1)}
_SKIPS = {
    "PAST LAST ROW": SkipTo.PAST_LAST_ROW,
    "TO NEXT ROW": SkipTo.NEXT_ROW,
    "TO FIRST": SkipTo.FIRST,
    "TO LAST": SkipTo.LAST,
}


def plan_pattern(node: MatchNode) -> tuple[PatternVariable, ...]:
    """Return the pattern; refuse what Flink refuses."""
    found: list[PatternVariable] = []
    for part in node.args["pattern"]:
        name, most = part.this.name, part.args.get("maximum")
        variable = PatternVariable(
            name, part.args["minimum"], most, bool(part.args.get("reluctant"))
        )
        if name in [known.name for known in found]:
            raise invalid(part, f"pattern variable {name} occurs twice")
        if most == 0 or (most is not None and most < variable.least):
            raise invalid(part, f"{variable.described} can have no row")
        if variable.reluctant and (variable.least, most) == (0, 1):
            raise invalid(
                part,
                f"reluctant optional variables like {variable.described} are not"
                " supported, as in Flink",
            )
        if found and found[-1].is_greedy and (variable.least, most) in _OPTIONAL:
            raise invalid(
                part,
                f"{variable.described} must not follow the greedy {found[-1].described}, as in"
                " Flink",
                f"write {found[-1].described}?, or a variable that is not optional between them",
            )
        found.append(variable)
    if all(variable.is_optional for variable in found):
        raise invalid(
            node.args["pattern"][0],
            "patterns that can match no row are not supported, as in Flink",
            "add a variable that is not optional",
        )
    if found[-1].is_greedy:
        raise invalid(
            node.args["pattern"][-1],
            f"the last variable {found[-1].described} must not be greedy, as in Flink",
            f"write {found[-1].described}?, or add a variable with the opposite condition",
        )
    return tuple(found)


def plan_skip(node: MatchNode, pattern: Sequence[PatternVariable]) -> Skip:
    """Return AFTER MATCH SKIP; the default is that of Flink."""
    clause = node.args.get("skip")
    if clause is None:
        return Skip(SkipTo.NEXT_ROW)
    variable = clause.args.get("variable")
    name = None if variable is None else variable.name
    known = [v.name for v in pattern]
    if name is not None and name not in known:
        raise invalid(clause, f"PATTERN has no variable {name}", closest(name, known))
    return Skip(_SKIPS[clause.name], name)


def plan_within(node: MatchNode) -> int | None:
    """Return the limit of WITHIN in milliseconds; None for no limit."""
    interval = node.args.get("within")
    if interval is None:
        return None
    kind = interval.args["to"].data_type if isinstance(interval, IntervalLiteral) else None
    if kind is None or kind.root is not Root.INTERVAL_DAY_TIME:
        raise invalid(interval, "WITHIN takes an interval such as INTERVAL '10' MINUTE")
    return int(interval.args["value"]) // _MICROS_PER_MILLI or None
