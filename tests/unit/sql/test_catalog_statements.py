"""Statements of the catalog, such as LIKE, AS, ALTER and SHOW, and their parsed values."""

from __future__ import annotations

import pytest
from sqlglot import exp

from streamtable.core import types as t
from streamtable.core.errors import Span
from streamtable.core.options import Given
from streamtable.core.table import MetadataColumn, PhysicalColumn
from streamtable.sql.parse import parse_query, parse_script
from streamtable.sql.statements.changes import (
    AddElements,
    AlterTable,
    AlterView,
    DropColumns,
    DropKey,
    DropWatermark,
    ModifyElements,
    Placed,
    RenameColumn,
    RenameTo,
    ResetOptions,
    SetOptions,
)
from streamtable.sql.statements.likes import Feature, Like, Merging
from streamtable.sql.statements.listings import (
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    Describe,
    DescribeCatalog,
    DescribeFunction,
    DropCatalog,
    DropDatabase,
    DropFunction,
    Listing,
    Pattern,
    Show,
    ShowCreate,
    ShowModulesInFull,
    UseCatalog,
    UseDatabase,
)
from streamtable.sql.statements.model import CreateTableAs, CreateTableLike, Explain, Statement
from streamtable.sql.statements.schema import KeyDeclared

FILE = "job.sql"


def _at(column: int) -> Span:
    return Span(FILE, 1, column)


def _id(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=False)


START = _at(1)
TABLE = {"name": ("t",), "at": START, "name_at": _at(13)}

CASES: dict[str, Statement] = {
    "ALTER TABLE t SET ('a'='b')": AlterTable(
        change=SetOptions({"a": Given("b", _at(20))}), **TABLE
    ),
    "ALTER TABLE t RESET ('a', 'b')": AlterTable(
        change=ResetOptions({"a": _at(22), "b": _at(27)}), **TABLE
    ),
    "ALTER TABLE IF EXISTS d.t RENAME TO d.u": AlterTable(
        ("d", "t"), RenameTo(("d", "u"), _at(37)), START, if_exists=True, name_at=_at(23)
    ),
    "ALTER TABLE t RENAME a TO b": AlterTable(change=RenameColumn(_id("a"), _id("b")), **TABLE),
    "ALTER TABLE t ADD a INT FIRST": AlterTable(
        change=AddElements((Placed(PhysicalColumn("a", t.INT, _at(19)), first=True),)), **TABLE
    ),
    "ALTER TABLE t ADD (a INT AFTER b, PRIMARY KEY (a) NOT ENFORCED)": AlterTable(
        change=AddElements(
            (
                Placed(PhysicalColumn("a", t.INT, _at(20)), after=_id("b")),
                Placed(KeyDeclared((_id("a"),), _at(35))),
            )
        ),
        **TABLE,
    ),
    "ALTER TABLE t MODIFY a INT METADATA FROM 'offset' COMMENT 'c'": AlterTable(
        change=ModifyElements(
            (Placed(MetadataColumn("a", t.INT, "offset", at=_at(22), comment="c")),)
        ),
        **TABLE,
    ),
    "ALTER TABLE t DROP a": AlterTable(change=DropColumns((_id("a"),)), **TABLE),
    "ALTER TABLE t DROP (a, b)": AlterTable(change=DropColumns((_id("a"), _id("b"))), **TABLE),
    "ALTER TABLE t DROP PRIMARY KEY": AlterTable(change=DropKey(), **TABLE),
    "ALTER TABLE t DROP CONSTRAINT c": AlterTable(change=DropKey(_id("c")), **TABLE),
    "ALTER TABLE t DROP WATERMARK": AlterTable(change=DropWatermark(), **TABLE),
    "ALTER VIEW v RENAME TO w": AlterView(("v",), RenameTo(("w",), _at(24)), START, _at(12)),
    "ALTER VIEW v AS SELECT 1": AlterView(("v",), parse_query("SELECT 1"), START, _at(12)),
    "CREATE CATALOG IF NOT EXISTS c COMMENT 'x' WITH ('type'='y')": CreateCatalog(
        "c", {"type": Given("y", _at(50))}, START, if_not_exists=True, comment="x"
    ),
    "CREATE DATABASE d WITH ('a'='b')": CreateDatabase(("d",), START),
    "CREATE DATABASE c.d": CreateDatabase(("c", "d"), START),
    "DROP CATALOG IF EXISTS c": DropCatalog("c", START, if_exists=True),
    "DROP DATABASE IF EXISTS d CASCADE": DropDatabase(("d",), START, True, True),
    "DROP DATABASE d RESTRICT": DropDatabase(("d",), START),
    "USE CATALOG c": UseCatalog("c", _at(13)),
    "USE c.d": UseDatabase(("c", "d"), _at(5)),
    "CREATE FUNCTION IF NOT EXISTS d.f AS 'm:g' LANGUAGE PYTHON": CreateFunction(
        ("d", "f"), "m:g", _at(38), START, if_not_exists=True, language="PYTHON"
    ),
    "CREATE TEMPORARY SYSTEM FUNCTION f AS 'm.g' LANGUAGE PYTHON": CreateFunction(
        ("f",), "m.g", _at(39), START, temporary=True, system=True, language="PYTHON"
    ),
    "CREATE TEMPORARY FUNCTION f AS 'a.F' LANGUAGE SCALA USING JAR 'x.jar', JAR 'y.jar'": (
        CreateFunction(
            ("f",), "a.F", _at(32), START, True, language="SCALA", jars=("x.jar", "y.jar")
        )
    ),
    "CREATE FUNCTION f AS 'a.F'": CreateFunction(("f",), "a.F", _at(22), START),
    "DROP TEMPORARY FUNCTION IF EXISTS f": DropFunction(
        ("f",), START, temporary=True, if_exists=True
    ),
    "SHOW TABLES": Show(Listing.TABLES, START),
    "SHOW TABLES IN c.d NOT LIKE 'x'": Show(
        Listing.TABLES, START, ("c", "d"), Pattern("x", negated=True)
    ),
    "SHOW FUNCTIONS ILIKE 'x'": Show(
        Listing.FUNCTIONS, START, (), Pattern("x", ignores_case=True)
    ),
    "SHOW USER FUNCTIONS": Show(Listing.USER_FUNCTIONS, START),
    "SHOW CURRENT DATABASE": Show(Listing.CURRENT_DATABASE, START),
    "SHOW COLUMNS FROM t LIKE '%'": Describe(("t",), START, _at(19), Pattern("%")),
    "DESCRIBE d.t": Describe(("d", "t"), START, _at(10)),
    "DESC t": Describe(("t",), START, _at(6)),
    "DESCRIBE CATALOG c": DescribeCatalog("c", START, _at(18)),
    "DESC CATALOG EXTENDED extended": DescribeCatalog("extended", START, _at(23), extended=True),
    "DESCRIBE FUNCTION UPPER": DescribeFunction(("UPPER",), START, _at(19)),
    "DESC FUNCTION EXTENDED d.f": DescribeFunction(("d", "f"), START, _at(24), extended=True),
    "DESCRIBE FUNCTION extended": DescribeFunction(("extended",), START, _at(19)),
    "SHOW FULL MODULES": ShowModulesInFull(START),
    "SHOW CREATE VIEW v": ShowCreate("VIEW", ("v",), START, _at(18)),
    "SHOW CREATE CATALOG c": ShowCreate("CATALOG", ("c",), START, _at(21)),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES.items(), ids=list(CASES))
def test_value(text: str, expected: Statement) -> None:
    assert parse_script(text, FILE) == [expected]


def test_like() -> None:
    (found,) = parse_script(
        "CREATE TABLE t (a INT) WITH ('k'='v') LIKE d.b (EXCLUDING ALL OVERWRITING OPTIONS)", FILE
    )
    assert isinstance(found, CreateTableLike)
    assert found.like == Like(
        ("d", "b"),
        _at(44),
        {Feature.ALL: Merging.EXCLUDING, Feature.OPTIONS: Merging.OVERWRITING},
    )
    assert found.elements == (PhysicalColumn("a", t.INT, _at(17)),)
    assert found.table.options == {"k": Given("v", _at(30))}


@pytest.mark.parametrize(
    ("given", "feature", "expected"),
    [
        ({}, Feature.OPTIONS, Merging.OVERWRITING),
        ({}, Feature.METADATA, Merging.INCLUDING),
        ({Feature.ALL: Merging.EXCLUDING}, Feature.OPTIONS, Merging.EXCLUDING),
        (
            {Feature.ALL: Merging.EXCLUDING, Feature.OPTIONS: Merging.INCLUDING},
            Feature.OPTIONS,
            Merging.INCLUDING,
        ),
    ],
)
def test_merging_strategies_of_like(
    given: dict[Feature, Merging], feature: Feature, expected: Merging
) -> None:
    assert Like(("b",), START, given).merging(feature) is expected


def test_create_table_as() -> None:
    (found,) = parse_script("CREATE TABLE t (b, a) WITH ('k'='v') AS SELECT 1", FILE)
    assert isinstance(found, CreateTableAs)
    assert (found.order, found.elements) == (("b", "a"), ())
    assert found.query == parse_query("SELECT 1")


def test_create_table_as_is_explained() -> None:
    (found,) = parse_script("EXPLAIN CREATE TABLE t AS SELECT 1", FILE)
    assert isinstance(found, Explain)
    assert isinstance(found.statement, CreateTableAs)
