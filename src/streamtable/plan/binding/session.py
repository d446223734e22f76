"""The Spark settings under which the bound texts mean what Flink means."""

from __future__ import annotations

from collections.abc import Mapping

#: The session's time zone comes on top: that of `table.local-time-zone`.
SPARK_RULES: Mapping[str, str] = {
    # Integers wrap and casts give NULL; where Flink fails, the texts fail by themselves.
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    # In maps the last of equal keys wins, as in Java.
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    # Upper and lower case are Java's, as in Flink; ICU's also take a second to set up.
    "spark.sql.icu.caseMappings.enabled": "false",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}
