"""Known differences of our answers from Flink's; the tests check that the list is exact."""

from __future__ import annotations

DIFFERENT: dict[str, str] = {
    "alter rename into another database": "refused; Flink leaves the database out in silence",
    "create or replace a table that exists": (
        "the new table replaces it; Flink reads OR REPLACE and refuses a table that exists"
    ),
    "describe the first catalog": "it is described as those that a script creates",
    "show create view": "the query is on one line, its columns as the script has them",
}
