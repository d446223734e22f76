"""The usual date patterns without a formatter: pieces cut from the text of a TIMESTAMP_NTZ."""

from __future__ import annotations

import re

from streamtable.plan.binding.bound import Bound

#: What TO_TIMESTAMP and its kin read where no pattern is given.
DEFAULT = "yyyy-MM-dd HH:mm:ss"


def cut_from(moment: str, pattern: Bound) -> str | None:
    """Spark SQL of a timestamp's text; None where the pattern wants more than a cut.

    Args:
        moment: Spark SQL of a TIMESTAMP_NTZ, whose text begins `yyyy-MM-dd HH:mm:ss`.
        pattern: of Java; both of its formatters mean the same by such a one.
    """
    wanted = pattern.constant
    if not isinstance(wanted, str) or not wanted:
        return None
    start = DEFAULT.find(wanted)
    # A part of a field, such as the last `yy` of `yyyy`, is another pattern.
    whole = re.fullmatch(r"(yyyy|MM|dd|HH|mm|ss)([- :]+(MM|dd|HH|mm|ss))*", wanted)
    if start < 0 or whole is None:
        return None
    return f"substring(CAST({moment} AS STRING), {start + 1}, {len(wanted)})"
