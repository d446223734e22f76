"""User-defined functions of a session: create them, look them up, and bind calls to them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path as FilePath
from typing import Any

from sqlglot import exp

from streamtable.catalog.java_functions import JavaFunction
from streamtable.catalog.namespaces import Namespaces, Path
from streamtable.catalog.python_hints import Signature, signature_of, without_partial
from streamtable.catalog.spark_names import spark_name
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.sql.nodes import FlinkCall
from streamtable.sql.statements.listings import CreateFunction, DropFunction

#: Prefix of the names of these functions in Spark.
SPARK_PREFIX = "streamtable_udf_"
_CURRENT_DATABASE = "CURRENT_DATABASE"


def of_live_rows(name: str) -> str:
    """Return the name in Spark of a function's twin, which a delete does not call.

    The first argument of the twin is whether to call the function. If not, the result is any value.
    """
    return f"{name}_of_live_rows"


@dataclass(frozen=True)
class PythonFunction:
    """A user-defined Python function.

    Attributes:
        name: name of the function in the script.
        module: Python module of the function.
        attribute: name of the function in the module.
        signature: types of the arguments and of the result.
        given: the function itself, if a program has passed it; None: its module is imported.
        variant: tells it apart from an earlier function of the same name and place.
    """

    name: str
    module: str
    attribute: str
    signature: Signature
    given: object = None
    variant: str = ""

    @property
    def deterministic(self) -> bool:
        """Whether equal arguments give equal results."""
        return self.signature.deterministic

    @property
    def is_table(self) -> bool:
        """Whether it is a table function."""
        return self.signature.is_table

    @property
    def is_aggregate(self) -> bool:
        """Whether it is an aggregate function."""
        return self.signature.is_aggregate

    @property
    def kind(self) -> str:
        """Kind of the function in messages."""
        return self.signature.kind

    @property
    def table_hint(self) -> str:
        """What to do to call it in FROM."""
        return "mark it with streamtable.udf.udtf"

    @property
    def class_name(self) -> str:
        """Place of the function, as Flink shows it."""
        return f"{self.module}.{self.attribute}"

    @property
    def language(self) -> str:
        """Language, as CREATE FUNCTION names it."""
        return "PYTHON"

    def usages(self) -> list[str]:
        """Its argument lists, as messages show them."""
        return [self.signature.usage()]

    @property
    def spark_name(self) -> str:
        """Name of the function in Spark; the same in every run of a script."""
        target = f"{self.module}:{self.attribute}{self.variant}"
        return spark_name(SPARK_PREFIX, self.attribute, target)


UserFunction = PythonFunction | JavaFunction


class Functions:
    """User-defined functions by name; names are case-insensitive.

    Args:
        namespaces: the catalogs and databases of the session.
        built_in: names that are taken by built-in functions.
    """

    def __init__(self, namespaces: Namespaces, built_in: frozenset[str]) -> None:
        self._namespaces = namespaces
        self._built_in = built_in
        self._system: dict[str, UserFunction] = {}
        self._temporary: dict[Path, UserFunction] = {}
        self._permanent: dict[Path, UserFunction] = {}
        #: All functions that were ever created, to be registered in Spark.
        self.made: list[UserFunction] = []
        #: The functions that programs have passed and that have a short name in Spark. A function
        #: that replaces another one of equal types keeps its name, on which checkpoints depend.
        self._spark_names: dict[str, tuple[Path, Signature]] = {}
        #: The jars of ADD JAR, in which classes of functions are searched.
        self.jars: list[str] = []

    def copy(self, namespaces: Namespaces) -> Functions:
        """Return independent functions with the same content, in a copy of the namespaces."""
        other = Functions(namespaces, self._built_in)
        other._system = dict(self._system)
        other._temporary = dict(self._temporary)
        other._permanent = dict(self._permanent)
        other.made = list(self.made)
        other.jars = list(self.jars)
        other._spark_names = dict(self._spark_names)
        return other

    def create(
        self, statement: CreateFunction, load: Callable[[CreateFunction], UserFunction]
    ) -> None:
        """Register a function.

        Args:
            statement: its declaration.
            load: finds the function; it is not called if the function exists already.

        Raises:
            StreamtableError: FUNCTION_UNUSABLE if the function cannot be loaded or has no types;
                ALREADY_EXISTS.
        """
        name, at = statement.name[-1].upper(), statement.at
        if statement.system and name in self._built_in:
            what = f"a function that replaces the built-in {name}"
            raise StreamtableError(Condition.NOT_YET, at=at, what=what)
        if self._existing(statement) is not None:
            if statement.if_not_exists:
                return
            raise StreamtableError(
                Condition.ALREADY_EXISTS,
                at=at,
                what=f"function {statement.name[-1]}",
                hint="drop it first, or write CREATE FUNCTION IF NOT EXISTS",
            )
        found = load(statement)
        if statement.system:
            self._system[name] = found
        else:
            path = self._path(statement.name)
            self._namespaces.check(path, at)
            if not statement.temporary:
                change = f"CREATE FUNCTION {statement.name[-1]}"
                self._namespaces.check_changeable(path.catalog, change, at)
            (self._temporary if statement.temporary else self._permanent)[path] = found
        self.made.append(found)

    def put(self, name: tuple[str, ...], function: object) -> None:
        """Register a function that a program passes; it replaces one of the same name.

        Raises:
            StreamtableError: FUNCTION_UNUSABLE if it has no types, NOT_YET for the name of a
                built-in function, UNKNOWN_DATABASE.
        """
        shown = ".".join(name)
        if name[-1].upper() in self._built_in:
            what = f"a function that replaces the built-in {name[-1].upper()}"
            raise StreamtableError(Condition.NOT_YET, what=what, hint="give it another name")
        code = without_partial(getattr(function, "function", function))
        place = code if hasattr(code, "__qualname__") else type(code)
        module, attribute = (getattr(place, key, "") for key in ("__module__", "__qualname__"))
        try:
            signature = signature_of(function)
        except (ValueError, StreamtableError) as error:
            raise StreamtableError(
                Condition.FUNCTION_UNUSABLE,
                function=shown,
                reason=str(error),
                hint="give it type hints, or mark it with streamtable.udf.udf(result_type=...)",
            ) from error
        path = self._path(name)
        self._namespaces.check(path, None)
        # The name tells functions apart that have the same place, such as two lambdas.
        found = PythonFunction(name[-1], module, f"{attribute}_{name[-1]}", signature, function)
        if self._spark_names.setdefault(found.spark_name, (path, signature)) != (path, signature):
            variant = f" {path} {signature.usage()} {signature.result}"
            found = replace(found, variant=variant)
        self._temporary[path] = found
        self.made.append(found)

    def drop(self, statement: DropFunction) -> None:
        """Drop a function; UNKNOWN_FUNCTION if it does not exist."""
        if self._existing(statement) is None:
            if statement.if_exists:
                return
            name = statement.name[-1]
            hint = closest(name.upper(), self.names())
            raise StreamtableError(
                Condition.UNKNOWN_FUNCTION, at=statement.at, function=name, hint=hint
            )
        if statement.system:
            del self._system[statement.name[-1].upper()]
        else:
            entries = self._temporary if statement.temporary else self._permanent
            del entries[self._path(statement.name)]

    def names(self, home: tuple[str, str] | None = None) -> list[str]:
        """List the functions that can be called without a database, in lower case and sorted.

        Args:
            home: catalog and database to search; None: the current ones.
        """
        place = home or (self._namespaces.catalog, self._namespaces.database)
        paths = {**self._permanent, **self._temporary}
        inside = [path.name for path in paths if (path.catalog, path.database) == place]
        return sorted({name.lower() for name in (*inside, *self._system)})

    def found(self, name: tuple[str, ...]) -> tuple[UserFunction, bool, bool] | None:
        """Look up a function; return it, and whether it is a system function and temporary."""
        if len(name) == 1 and name[0].upper() in self._system:
            return self._system[name[0].upper()], True, True
        if len(name) == 1 and name[0].upper() in self._built_in:
            return None
        path = self._path(name)
        if path in self._temporary:
            return self._temporary[path], False, True
        return (self._permanent[path], False, False) if path in self._permanent else None

    def bind_calls(self, statement: object) -> None:
        """Bind the calls in a statement to these functions; set the current database in calls."""
        for tree in _trees(statement):
            for call in tree.find_all(FlinkCall):
                if call.name == _CURRENT_DATABASE:
                    call.set("database", self._namespaces.database)
                found = self._resolve(call.name)
                if found is not None:
                    call.set("function", found)

    def _resolve(self, name: str) -> UserFunction | None:
        """Resolve an unqualified name; system functions come first, as in Flink."""
        if name in self._system:
            return self._system[name]
        if name in self._built_in:
            return None
        path = self._path((name,))
        return self._temporary.get(path) or self._permanent.get(path)

    def _existing(self, statement: CreateFunction | DropFunction) -> UserFunction | None:
        if statement.system:
            return self._system.get(statement.name[-1].upper())
        entries = self._temporary if statement.temporary else self._permanent
        return entries.get(self._path(statement.name))

    def _path(self, name: tuple[str, ...]) -> Path:
        return self._namespaces.path((*name[:-1], name[-1].upper()))


def python_function(statement: CreateFunction) -> PythonFunction:
    """Import the module of a function; raise FUNCTION_UNUSABLE if that fails."""
    separator = ":" if ":" in statement.target else "."
    module, _, attribute = statement.target.rpartition(separator)
    at = statement.target_at
    if not module or not attribute:
        raise _unusable(statement, "its name does not have the form 'module:function'", None, at)
    try:
        found = getattr(importlib.import_module(module), attribute)
        signature = signature_of(found)
    except ModuleNotFoundError as error:
        hint = "SET 'python.files' to the folder or file that contains it"
        raise _unusable(statement, f"there is no module '{error.name}'", hint, at) from error
    except AttributeError as error:
        near = closest(attribute, dir(sys.modules[module]))
        reason = f"module '{module}' has no '{attribute}'"
        raise _unusable(statement, reason, near, at) from error
    except ValueError as error:
        hint = "give it type hints, or mark it with streamtable.udf.udf(result_type=...)"
        raise _unusable(statement, str(error), hint, at) from error
    except StreamtableError as error:
        reason = f"its decorator names an invalid type: {error}"
        raise _unusable(statement, reason, None, at) from error
    except Exception as error:  # the import runs user code
        reason = f"its module fails: {type(error).__name__}: {error}"
        raise _unusable(statement, reason, None, at) from error
    return PythonFunction(statement.name[-1], module, attribute, signature)


def _unusable(
    statement: CreateFunction, reason: str, hint: str | None, at: Span
) -> StreamtableError:
    return StreamtableError(
        Condition.FUNCTION_UNUSABLE, at=at, function=statement.target, reason=reason, hint=hint
    )


def _trees(value: object) -> Iterator[exp.Expr]:
    """Yield the expression trees in a statement."""
    if isinstance(value, exp.Expr):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _trees(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _trees(_attribute(value, field.name))


def _attribute(value: Any, name: str) -> object:
    return getattr(value, name)


def search_in(files: Sequence[str]) -> None:
    """Add folders, `.py` files and `.zip` files to the import path of this process."""
    for file in files:
        place = FilePath(file).resolve()
        entry = str(place.parent if place.suffix == ".py" else place)
        if entry not in sys.path:
            sys.path.insert(0, entry)
            importlib.invalidate_caches()
