"""Views: names are resolved and columns are checked when a view is created or changed."""

from __future__ import annotations

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.session import Session

_WITH = "WITH ('connector' = 'datagen')"
_TABLES = f"""CREATE TABLE b (a INT, s STRING) {_WITH};
CREATE TABLE o (a INT, s STRING) WITH ('connector' = 'print');
CREATE DATABASE dd;
CREATE TABLE dd.b (a INT, s STRING) {_WITH};
CREATE TABLE dd.c (a INT, s STRING) {_WITH};
"""
#: Query of a view -> table that the view reads after USE of another database.
READ = {
    "SELECT * FROM b": "b",
    "WITH b AS (SELECT * FROM b WHERE a > 0) SELECT * FROM b": "b",
    "WITH x AS (SELECT * FROM b), b AS (SELECT * FROM dd.c) SELECT * FROM x": "b",
    "WITH b AS (SELECT * FROM dd.c), x AS (SELECT * FROM b) SELECT * FROM x": "dd.c",
    "WITH b AS (SELECT * FROM dd.c) SELECT * FROM (SELECT * FROM b)": "dd.c",
}


@pytest.mark.parametrize(("query", "table"), READ.items(), ids=list(READ))
def test_names_are_resolved_when_the_view_is_created(query: str, table: str) -> None:
    session = Session()
    home = "default_catalog.default_database"
    session.load(f"{_TABLES}CREATE VIEW v AS {query}; USE dd;", "a.sql")
    session.load(f"INSERT INTO {home}.o SELECT * FROM {home}.v;", "b.sql")
    lines = session.explain().splitlines()
    found = [line.split()[1].strip(":") for line in lines if line.split()[:1] == ["Scan"]]
    assert found == [table]


#: Value of a variable, with several stars -> columns of a view whose query is the variable.
SEVERAL_STARS = {
    "SELECT x.*, y.* FROM b AS x JOIN dd.c AS y ON x.a = y.a": ["a", "s", "a", "s"],
    "SELECT * FROM b UNION ALL SELECT * FROM dd.c": ["a", "s"],
    "SELECT * FROM (SELECT * FROM b)": ["a", "s"],
}


@pytest.mark.parametrize(("query", "names"), SEVERAL_STARS.items(), ids=list(SEVERAL_STARS))
def test_stars_of_one_variable(query: str, names: list[str]) -> None:
    """Several stars in one variable have the same columns as in the text of the script.

    All tokens of a variable have the place of the variable.
    """
    listed = ", ".join(f"c{number}" for number in range(len(names)))
    plans = []
    for view in (query, "${q}"):
        session = Session()
        text = f"{_TABLES}CREATE VIEW v ({listed}) AS {view}; SELECT * FROM v;"
        session.load(text, "a.sql", {"q": query})
        plans.append(session.explain())
    assert plans[0] == plans[1]


#: Statements after those of `_TABLES` -> their only error.
REFUSED = {
    "CREATE VIEW v AS SELECT a FROM b; ALTER VIEW v AS SELECT nosuch FROM b; SELECT * FROM v": (
        "1:58: UNKNOWN_COLUMN: column 'nosuch' does not exist in any input of the query."
    ),
    "ALTER TABLE b ADD c AS nosuch; SELECT * FROM b": (
        "1:24: UNKNOWN_COLUMN: column 'nosuch' does not exist in any input of the query."
    ),
    "CREATE VIEW v (x) AS SELECT a, s FROM b": (
        "1:1: COLUMN_COUNT_MISMATCH: v expects 1 columns, found 2"
    ),
    "CREATE TEMPORARY VIEW b AS SELECT s FROM b": (
        "1:1: CHANGE_REFUSED: view b: its query reads the view itself."
    ),
    "CREATE VIEW v AS SELECT a FROM b; CREATE VIEW w AS SELECT a FROM v;"
    " ALTER VIEW v AS SELECT a FROM w": (
        "1:69: CHANGE_REFUSED: view v: its query reads the view itself."
    ),
    "CREATE VIEW v AS SELECT a, s, a FROM b": (
        "1:31: DUPLICATE_COLUMN: column 'a' is declared twice in view v."
    ),
    "CREATE VIEW v AS SELECT x.*, y.a FROM b AS x JOIN dd.c AS y ON x.a = y.a": (
        "1:30: DUPLICATE_COLUMN: column 'a' is declared twice in view v."
    ),
    "CREATE VIEW v AS (SELECT a, s AS a FROM b) UNION ALL SELECT a, s FROM b": (
        "1:29: DUPLICATE_COLUMN: column 'a' is declared twice in view v."
    ),
    "CREATE VIEW v (x, x) AS SELECT a, s FROM b": (
        "1:1: DUPLICATE_COLUMN: column 'x' is declared twice in view v."
    ),
    "WITH w (x) AS (SELECT a, s FROM b) SELECT * FROM w": (
        "1:6: COLUMN_COUNT_MISMATCH: w expects 1 columns, found 2"
    ),
}


@pytest.mark.parametrize(("sql", "message"), REFUSED.items(), ids=list(REFUSED))
def test_columns_are_checked_when_the_view_is_created(sql: str, message: str) -> None:
    session = Session()
    session.load(_TABLES, "a.sql")
    with pytest.raises(StreamtableError) as refused:
        session.load(sql, "b.sql")
    assert str(refused.value).startswith(f"b.sql:{message}")
    assert "\n" not in str(refused.value)


#: Query with stars -> columns that a view of the query keeps.
STARS = {
    "SELECT * FROM b": "a, s",
    "SELECT x.*, a + 1 AS n FROM b AS x": "a, s, n",
    "SELECT * FROM (SELECT *, 1 AS n FROM b) WHERE n > 0": "a, s, n",
    "SELECT * FROM b UNION ALL SELECT * FROM dd.b": "a, s",
    "WITH x AS (SELECT * FROM b) SELECT x.* FROM x, b AS y WHERE x.a = y.a": "a, s",
    "SELECT * FROM b JOIN dd.c AS d USING (a)": "a, s, s0",
    "SELECT * FROM b JOIN dd.c AS d ON b.a = d.a": "a, s, a0, s0",
    "SELECT x.a AS a0, y.*, x.* FROM b AS x JOIN dd.c AS y ON x.a = y.a": "a0, a, s, a1, s0",
    "SELECT a, s0 FROM (SELECT * FROM b JOIN dd.c AS d ON b.a = d.a)": "a, s0",
    "SELECT * FROM b JOIN dd.c AS d USING (a) UNION SELECT a, s, s FROM dd.c": "a, s, s0",
    "SELECT a, r.* FROM (SELECT a, CAST(ROW(a) AS ROW<a INT>) AS r FROM b)": "a, a0",
    "TABLE b": "a, s",
    "SELECT * FROM b WHERE (a, s) IN (SELECT * FROM dd.b)": "a, s",
    "SELECT * FROM b WHERE EXISTS (SELECT * FROM dd.b)": "a, s",
    "SELECT * FROM b ORDER BY b.a LIMIT 3": "a, s",
    "SELECT y.* FROM b AS x, LATERAL (SELECT * FROM dd.b WHERE a = x.a LIMIT 1) AS y": "a, s",
    "SELECT r.* FROM (SELECT CAST(ROW(a, s) AS ROW<x INT, y STRING>) AS r FROM b)": "x, y",
    "SELECT * FROM earlier": "a, s",
}


@pytest.mark.parametrize(("query", "columns"), STARS.items(), ids=list(STARS))
@pytest.mark.parametrize(
    "change", ["CREATE VIEW v AS", "CREATE VIEW v AS TABLE dd.c; ALTER VIEW v AS"]
)
def test_a_star_keeps_the_columns_of_its_creation(change: str, query: str, columns: str) -> None:
    session = Session()
    session.load(f"{_TABLES}CREATE VIEW earlier AS SELECT * FROM b; {change} {query};", "a.sql")
    session.load("SHOW CREATE VIEW v", "b.sql")
    session.load(
        "ALTER TABLE b ADD (c INT FIRST, d INT); ALTER TABLE dd.b ADD e INT FIRST", "c.sql"
    )
    session.load("ALTER TABLE dd.c ADD f INT", "d.sql")
    session.load("SHOW CREATE VIEW v; DESCRIBE v", "e.sql")
    before, after, described = session.answers
    assert str(before) == str(after)
    assert ", ".join(row[0] for row in described.rows) == columns
    session.load(f"DROP VIEW v; {after}; DESCRIBE v; SELECT * FROM v", "f.sql")
    assert session.answers[-1].rows == described.rows


def test_a_permanent_view_hidden_by_a_temporary_view_is_checked() -> None:
    session = Session()
    session.load(f"{_TABLES}CREATE TEMPORARY VIEW v AS SELECT a FROM b;", "a.sql")
    with pytest.raises(StreamtableError, match="column 'nosuch' does not exist"):
        session.load("CREATE VIEW v AS SELECT nosuch FROM b", "b.sql")


#: Query whose columns have the path of their table -> tables that the query reads, or its error.
PATHS = {
    "SELECT dd.b.a FROM dd.b WHERE default_catalog.dd.b.s = 'x'": "dd.b",
    "SELECT default_catalog.default_database.b.* FROM default_database.b": "b",
    "SELECT default_database.b.a FROM default_database.b AS b": "b",
    "SELECT dd.c.a FROM b JOIN dd.c ON default_database.b.a = dd.c.a GROUP BY dd.c.a": "b dd.c",
    "SELECT a FROM b WHERE EXISTS (TABLE dd.c) AND default_database.b.a > 0": "b dd.c",
    "SELECT dd.b.a FROM b": "1:8: UNKNOWN_COLUMN: column 'dd.b.a' does not exist",
    "SELECT dd.b.a FROM dd.b AS x": "1:8: UNKNOWN_COLUMN: column 'dd.b.a' does not exist",
    "SELECT a FROM b WHERE EXISTS (SELECT 1 FROM dd.c AS b WHERE dd.b.a = b.a)": (
        "1:61: UNKNOWN_COLUMN: column 'dd.b.a' does not exist"
    ),
    "SELECT dd.b.* FROM b": "1:8: UNKNOWN_TABLE: table dd.b does not exist",
    "SELECT dd.b.a FROM dd.b WHERE EXISTS (SELECT 1 FROM b WHERE dd.b.a = b.a)": (
        "1:61: UNKNOWN_COLUMN: column 'dd.b.a' does not exist"
    ),
    "WITH b AS (SELECT 1 AS a) SELECT default_database.b.a FROM b": (
        "1:34: UNKNOWN_COLUMN: column 'default_database.b.a' does not exist"
    ),
}


@pytest.mark.parametrize(("query", "found"), PATHS.items(), ids=list(PATHS))
@pytest.mark.parametrize("view", [False, True])
def test_columns_with_the_path_of_their_table(query: str, found: str, *, view: bool) -> None:
    session = Session()
    session.load(_TABLES, "a.sql")
    statement = f"CREATE VIEW v AS\n{query}; SELECT * FROM v" if view else query
    if ":" in found:
        with pytest.raises(StreamtableError) as refused:
            session.load(statement, "b.sql")
        place = found.replace("1:", "2:", 1) if view else found
        assert str(refused.value).startswith(f"b.sql:{place}")
        return
    session.load(statement, "b.sql")
    lines = [line.split() for line in session.explain().splitlines()]
    assert [words[1].strip(":") for words in lines if words[:1] == ["Scan"]] == found.split()


def test_fields_of_rows_are_not_taken_for_table_paths() -> None:
    session = Session()
    session.load(
        f"CREATE DATABASE dd; CREATE TABLE dd.b (r ROW<x INT, b ROW<y INT>>) {_WITH};"
        " USE dd; SELECT b.r.x, r.x, dd.b.r.x, default_catalog.dd.b.r.b.y, b.r.b.y, r.b.y FROM b",
        "a.sql",
    )
    assert [c.name for c in session.selects[0].columns] == ["x", "x0", "x1", "y", "y0", "y1"]
