"""Format common date patterns without a formatter: substrings of a TIMESTAMP_NTZ's text."""

from __future__ import annotations

import re

from streamtable.plan.binding.bound import Bound

#: Default pattern of TO_TIMESTAMP and related functions.
DEFAULT = "yyyy-MM-dd HH:mm:ss"


def cut_from(moment: str, pattern: Bound) -> str | None:
    """Return Spark SQL of a formatted timestamp; None if the pattern is not supported.

    Args:
        moment: Spark SQL of a TIMESTAMP_NTZ, whose text begins with `yyyy-MM-dd HH:mm:ss`.
        pattern: a Java pattern; both of Java's formatters agree on the supported patterns.
    """
    wanted = pattern.constant
    if not isinstance(wanted, str) or not wanted:
        return None
    start = DEFAULT.find(wanted)
    # A part of a field, such as the last `yy` of `yyyy`, is a different pattern.
    whole = re.fullmatch(r"(yyyy|MM|dd|HH|mm|ss)([- :]+(MM|dd|HH|mm|ss))*", wanted)
    if start < 0 or whole is None:
        return None
    return f"substring(CAST({moment} AS STRING), {start + 1}, {len(wanted)})"
