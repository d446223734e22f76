"""The Python functions of a session: made, found by name, and tied to the calls that mean them."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path as FilePath
from typing import Any

from sqlglot import exp

from streamtable.catalog.namespaces import Namespaces, Path
from streamtable.catalog.python_hints import Signature, signature_of
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.sql.listings import CreateFunction, DropFunction
from streamtable.sql.nodes import FlinkCall

#: What the names of such functions begin with in Spark.
SPARK_PREFIX = "streamtable_udf_"
_CURRENT_DATABASE = "CURRENT_DATABASE"


@dataclass(frozen=True)
class PythonFunction:
    """A function of the user's.

    Attributes:
        name: as the script calls it.
        module: where it is.
        attribute: its name there.
        signature: what it takes and gives.
    """

    name: str
    module: str
    attribute: str
    signature: Signature

    @property
    def spark_name(self) -> str:
        """The name it is registered under in Spark; the same in every run of a script."""
        target = f"{self.module}:{self.attribute}"
        digest = hashlib.sha256(target.encode()).hexdigest()[:8]
        readable = "".join(c if c.isascii() and c.isalnum() else "_" for c in self.attribute)
        return f"{SPARK_PREFIX}{readable}_{digest}"


class Functions:
    """Functions by name; names of functions do not mind case.

    Args:
        namespaces: what databases there are.
        built_in: names that are taken.
    """

    def __init__(self, namespaces: Namespaces, built_in: frozenset[str]) -> None:
        self._namespaces = namespaces
        self._built_in = built_in
        self._system: dict[str, PythonFunction] = {}
        self._temporary: dict[Path, PythonFunction] = {}
        self._permanent: dict[Path, PythonFunction] = {}
        #: Every function that was ever made, for Spark to know.
        self.made: list[PythonFunction] = []

    def create(self, statement: CreateFunction) -> None:
        """Imports the module and keeps the function.

        Raises:
            StreamtableError: FUNCTION_UNUSABLE where it cannot be imported or has no types,
                ALREADY_EXISTS.
        """
        name, at = statement.name[-1].upper(), statement.at
        if statement.system and name in self._built_in:
            what = f"a function in the place of the built-in {name}"
            raise StreamtableError(Condition.NOT_YET, at=at, what=what)
        if self._held(statement) is not None:
            if statement.if_not_exists:
                return
            raise StreamtableError(
                Condition.ALREADY_EXISTS,
                at=at,
                what=f"function {statement.name[-1]}",
                hint="drop it first, or write CREATE FUNCTION IF NOT EXISTS",
            )
        found = _loaded(statement)
        if statement.system:
            self._system[name] = found
        else:
            path = self._path(statement.name)
            self._namespaces.check(path, at)
            (self._temporary if statement.temporary else self._permanent)[path] = found
        self.made.append(found)

    def drop(self, statement: DropFunction) -> None:
        """Forgets a function; UNKNOWN_FUNCTION where there is none."""
        if self._held(statement) is None:
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
        """What can be called without a database, in lower case and sorted.

        Args:
            home: catalog and database to look in; None: the current ones.
        """
        place = home or (self._namespaces.catalog, self._namespaces.database)
        paths = {**self._permanent, **self._temporary}
        inside = [path.name for path in paths if (path.catalog, path.database) == place]
        return sorted({name.lower() for name in (*inside, *self._system)})

    def tie(self, statement: object) -> None:
        """Marks the calls in a statement that mean one of these functions, or the place in use."""
        for tree in _trees(statement):
            for call in tree.find_all(FlinkCall):
                if call.name == _CURRENT_DATABASE:
                    call.set("database", self._namespaces.database)
                found = self._meant(call.name)
                if found is not None:
                    call.set("function", found)

    def _meant(self, name: str) -> PythonFunction | None:
        """What an unqualified name means: system functions first, as in Flink."""
        if name in self._system:
            return self._system[name]
        if name in self._built_in:
            return None
        path = self._path((name,))
        return self._temporary.get(path) or self._permanent.get(path)

    def _held(self, statement: CreateFunction | DropFunction) -> PythonFunction | None:
        if statement.system:
            return self._system.get(statement.name[-1].upper())
        entries = self._temporary if statement.temporary else self._permanent
        return entries.get(self._path(statement.name))

    def _path(self, name: tuple[str, ...]) -> Path:
        return self._namespaces.path((*name[:-1], name[-1].upper()))


def _loaded(statement: CreateFunction) -> PythonFunction:
    separator = ":" if ":" in statement.target else "."
    module, _, attribute = statement.target.rpartition(separator)
    at = statement.target_at
    if not module or not attribute:
        raise _unusable(statement, "its place is not 'module:function'", None, at)
    try:
        found = getattr(importlib.import_module(module), attribute)
        signature = signature_of(found)
    except ModuleNotFoundError as error:
        hint = "SET 'python.files' to the folder or file it is in"
        raise _unusable(statement, f"there is no module '{error.name}'", hint, at) from error
    except AttributeError as error:
        near = closest(attribute, dir(sys.modules[module]))
        reason = f"module '{module}' has no '{attribute}'"
        raise _unusable(statement, reason, near, at) from error
    except ValueError as error:
        hint = "give it type hints, or mark it with streamtable.udf.udf(result_type=...)"
        raise _unusable(statement, str(error), hint, at) from error
    except StreamtableError as error:
        reason = f"its decorator names a type that is none: {error}"
        raise _unusable(statement, reason, None, at) from error
    except Exception as error:  # whatever the user's module does when it is imported
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
    """The trees inside a statement."""
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
    """Lets this process import from folders, `.py` and `.zip` files."""
    for file in files:
        place = FilePath(file).resolve()
        entry = str(place.parent if place.suffix == ".py" else place)
        if entry not in sys.path:
            sys.path.insert(0, entry)
            importlib.invalidate_caches()
