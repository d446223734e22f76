"""Where our answers knowingly are not Flink's; the tests hold this list to be exact."""

from __future__ import annotations

DIFFERENT: dict[str, str] = {
    "alter rename into another database": "refused; Flink leaves the database out in silence",
    "show create view": "the query is on one line, its columns as the script has them",
}
