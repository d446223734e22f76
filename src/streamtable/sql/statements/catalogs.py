"""Parser layer for statements about catalogs, databases and functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given
from streamtable.sql.lexer.tokens import Kind
from streamtable.sql.names import Name
from streamtable.sql.statements.alter import AlterParser
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
    ShowStatement,
    UseCatalog,
    UseDatabase,
)

_PLACE = ("FROM", "IN")
_LIKE = ("LIKE",)
_LIKE_OR_ILIKE = ("LIKE", "ILIKE")

#: Keywords after SHOW, keywords before a catalog or database, and keywords before a pattern.
_LISTINGS: Mapping[tuple[str, ...], tuple[Listing, tuple[str, ...], tuple[str, ...]]] = {
    ("CATALOGS",): (Listing.CATALOGS, (), _LIKE_OR_ILIKE),
    ("DATABASES",): (Listing.DATABASES, _PLACE, _LIKE_OR_ILIKE),
    ("TABLES",): (Listing.TABLES, _PLACE, _LIKE),
    ("VIEWS",): (Listing.VIEWS, _PLACE, _LIKE),
    ("FUNCTIONS",): (Listing.FUNCTIONS, _PLACE, _LIKE_OR_ILIKE),
    ("USER", "FUNCTIONS"): (Listing.USER_FUNCTIONS, _PLACE, _LIKE_OR_ILIKE),
    ("CURRENT", "CATALOG"): (Listing.CURRENT_CATALOG, (), ()),
    ("CURRENT", "DATABASE"): (Listing.CURRENT_DATABASE, (), ()),
    ("MODULES",): (Listing.MODULES, (), ()),
    ("MODELS",): (Listing.MODELS, _PLACE, _LIKE_OR_ILIKE),
    ("MATERIALIZED", "TABLES"): (Listing.MATERIALIZED_TABLES, _PLACE, _LIKE),
    ("JARS",): (Listing.JARS, (), ()),
}
_LANGUAGES = ("PYTHON", "JAVA", "SCALA")


class CatalogParser(AlterParser):
    """Parse SHOW, DESCRIBE, USE, and CREATE and DROP of catalogs, databases and functions."""

    def create_catalog(self, at: Span) -> CreateCatalog:
        """Parse the rest of `CREATE CATALOG`."""
        if_not_exists = self.accept("IF", "NOT", "EXISTS") is not None
        name = self.identifier("the name of the catalog").name
        comment = self.comment()
        options: dict[str, Given] = self.options() if self.accept("WITH") else {}
        return CreateCatalog(name, options, at, if_not_exists, comment)

    def create_database(self, at: Span) -> CreateDatabase:
        """Parse the rest of `CREATE DATABASE`."""
        if_not_exists = self.accept("IF", "NOT", "EXISTS") is not None
        name = self._database()
        self.comment()
        if start := self.accept("WITH"):
            self.options()
            self.notices.append(f"{start.at}: the properties of database {name[-1]} have no effect")
        return CreateDatabase(name, at, if_not_exists)

    def drop_catalog(self, at: Span) -> DropCatalog:
        """Parse the rest of `DROP CATALOG`."""
        if_exists = self.accept("IF", "EXISTS") is not None
        return DropCatalog(self.identifier("the name of the catalog").name, at, if_exists)

    def drop_database(self, at: Span) -> DropDatabase:
        """Parse the rest of `DROP DATABASE`."""
        if_exists = self.accept("IF", "EXISTS") is not None
        name = self._database()
        cascade = self.accept("CASCADE") is not None
        if not cascade:
            self.accept("RESTRICT")
        return DropDatabase(name, at, if_exists, cascade)

    def _database(self) -> Name:
        at = self.peek().at
        name = self.name("the name of the database")
        if len(name) > 2:
            raise StreamtableError(
                Condition.SYNTAX,
                at=at,
                expected="the name of a database",
                found="one of three parts",
            )
        return name

    def use(self) -> UseCatalog | UseDatabase:
        """Parse `USE CATALOG c` or `USE [c.]d`."""
        self.expect("USE")
        of_catalog = self.accept("CATALOG") is not None
        at = self.peek().at
        if of_catalog:
            return UseCatalog(self.identifier("the name of the catalog").name, at)
        return UseDatabase(self._database(), at)

    def create_function(self, at: Span, *, temporary: bool, system: bool) -> CreateFunction:
        """Parse the rest of `CREATE ... FUNCTION`; without LANGUAGE, it is a function in Java."""
        if_not_exists = self.accept("IF", "NOT", "EXISTS") is not None
        name = self._function_name(system=system)
        self.expect("AS")
        target_at = self.peek().at
        target = self.text("a class or 'module:function'")
        language = "JAVA"
        if self.accept("LANGUAGE"):
            if not self.sees_any(*_LANGUAGES):
                self.fail(", ".join(_LANGUAGES[:-1]) + f" or {_LANGUAGES[-1]}")
            language = self.take().key
        if language == "PYTHON" and self.sees("USING"):
            self.refuse("CREATE FUNCTION ... LANGUAGE PYTHON USING")
        jars = self._jars()
        if self.sees("WITH"):
            self.refuse("CREATE FUNCTION ... WITH")
        return CreateFunction(
            name, target, target_at, at, temporary, system, if_not_exists, language, jars
        )

    def _jars(self) -> tuple[str, ...]:
        """Parse `USING JAR 'path' [, JAR 'path' ...]`, if it comes next."""
        if not self.accept("USING"):
            return ()
        jars: list[str] = []
        while not jars or self.accept(","):
            if self.sees_any("FILE", "ARCHIVE"):
                self.refuse(f"USING {self.peek().key}")
            self.expect("JAR")
            jars.append(self.text("the path of the jar in quotes"))
        return tuple(jars)

    def drop_function(self, at: Span, *, temporary: bool, system: bool) -> DropFunction:
        """Parse the rest of `DROP ... FUNCTION`."""
        if_exists = self.accept("IF", "EXISTS") is not None
        name = self._function_name(system=system)
        return DropFunction(name, at, temporary, system, if_exists)

    def _function_name(self, *, system: bool) -> Name:
        name = self.name("the name of the function")
        if system and len(name) > 1:
            self.fail("a name without database, as a system function has none")
        return name

    def describe(self) -> Describe | DescribeCatalog | DescribeFunction:
        """Parse `DESCRIBE` or `DESC` of a table, catalog or function.

        For tables and views EXTENDED has no effect, as in Flink.
        """
        at = self.take().at
        if self.peek(1).kind is not Kind.END and self.sees_any("CATALOG", "FUNCTION"):
            of_catalog = self.take().key == "CATALOG"
            extended = self.peek(1).kind is not Kind.END and self.accept("EXTENDED") is not None
            name_at = self.peek().at
            if of_catalog:
                name = self.identifier("the name of the catalog").name
                return DescribeCatalog(name, at, name_at, extended)
            return DescribeFunction(self._any_function_name(), at, name_at, extended)
        if self.peek(1).kind is not Kind.END:
            self.accept("EXTENDED")
        name_at = self.peek().at
        return Describe(self.name("the name of a table"), at, name_at)

    def _any_function_name(self) -> Name:
        """Parse the name of a function, which may be a keyword such as UPPER."""
        if self.peek().kind is Kind.WORD and self.peek(1).key != ".":
            return (self.take().text,)
        return self.name("the name of the function")

    def show(self) -> ShowStatement:
        """Parse `SHOW ...`."""
        at = self.expect("SHOW").at
        if self.accept("CREATE"):
            return self._show_create(at)
        if self.accept("COLUMNS"):
            if not (self.accept("FROM") or self.accept("IN")):
                self.fail("FROM or IN")
            name_at = self.peek().at
            name = self.name("the name of a table")
            return Describe(name, at, name_at, self._pattern(_LIKE))
        if self.accept("FULL", "MODULES"):
            return ShowModulesInFull(at)
        for words, (listing, places, patterns) in _LISTINGS.items():
            if self.accept(*words):
                place: Name = ()
                if self.sees_any(*places):
                    self.take()
                    place = self._database()
                return Show(listing, at, place, self._pattern(patterns))
        return self._nothing_to_show()

    def _nothing_to_show(self) -> NoReturn:
        known = [" ".join(words) for words in (*_LISTINGS, ("COLUMNS",), ("CREATE",))]
        self.fail("one of " + ", ".join(known), hint=closest(self.peek().text, known))

    def _show_create(self, at: Span) -> ShowCreate:
        if not self.sees_any("TABLE", "VIEW", "CATALOG"):
            self.fail("TABLE, VIEW or CATALOG")
        kind = self.take().key
        name_at = self.peek().at
        if kind == "CATALOG":
            return ShowCreate(kind, (self.identifier("the name of the catalog").name,), at, name_at)
        return ShowCreate(kind, self.name(f"the name of the {kind.lower()}"), at, name_at)

    def _pattern(self, words: tuple[str, ...]) -> Pattern | None:
        negated = self.sees("NOT") and self.peek(1).key in words
        if negated:
            self.take()
        if not self.sees_any(*words):
            return None
        ignores_case = self.take().key == "ILIKE"
        return Pattern(self.text("a pattern in quotes"), negated, ignores_case)
