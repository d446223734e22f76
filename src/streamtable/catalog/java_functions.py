"""User-defined functions in Java: their signatures, from the description of a class.

The description comes from the JVM (`jvm.java_classes`), because this package has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from streamtable.catalog.spark_names import digest, spark_name
from streamtable.core import types as t
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.types import DataType
from streamtable.sql.parse import parse_type
from streamtable.sql.statements.listings import CreateFunction

#: Prefix of the names of these functions in Spark.
JAVA_PREFIX = "streamtable_java_"

#: Returns the description of a class, searched in some jars.
Describe = Callable[[str, Sequence[str]], Mapping[str, Any]]

#: Prefix of the classes that functions are compiled against, and the jars that contain them.
_API = "org.apache.flink."
_API_JARS = (
    "add Flink's API by ADD JAR: org.apache.flink:flink-table-common, flink-core, flink-core-api"
    " and flink-metrics-core, of the version that the class is compiled for"
)


@dataclass(frozen=True)
class JavaSignature:
    """One signature of a function.

    Attributes:
        arguments: type of each argument; None takes any type without a cast.
        variadic: whether the last argument may be given any number of times.
        result: type of the result; for a table function, an ARRAY of its rows.
        parameters: classes of the parameters of the method `eval`.
        spread: whether the last parameter of the method is an array of the remaining arguments.
        classes: class in which the method takes each argument; "" is the default of its type.
    """

    arguments: tuple[DataType | None, ...]
    variadic: bool
    result: DataType
    parameters: tuple[str, ...]
    spread: bool
    classes: tuple[str, ...]

    def usage(self) -> str:
        """Argument list as messages show it."""
        shown = ["any type" if a is None else a.sql() for a in self.arguments]
        return "(" + ", ".join(shown) + ("..." if self.variadic else "") + ")"

    def argument(self, position: int) -> DataType | None:
        """Return the type of the argument at a position."""
        return self.arguments[min(position, len(self.arguments) - 1)]

    def takes(self, count: int) -> bool:
        """Return whether a call may have this number of arguments."""
        fixed = len(self.arguments)
        return count == fixed or (self.variadic and count >= fixed - 1)


@dataclass(frozen=True)
class JavaClass:
    """What the class of a function declares."""

    signatures: tuple[JavaSignature, ...]
    is_table: bool
    deterministic: bool


@dataclass(frozen=True)
class JavaFunction:
    """A user-defined function in Java or Scala.

    As in Flink, the class of a permanent function is read when a query calls the function.

    Attributes:
        name: name of the function in the script.
        class_name: its class.
        jars: paths of the jars in which its class may be.
        language: JAVA or SCALA.
        describe: reads the class; raises FUNCTION_UNUSABLE.
    """

    name: str
    class_name: str
    jars: tuple[str, ...]
    language: str
    describe: Callable[[], JavaClass] = field(compare=False, repr=False)

    @cached_property
    def described(self) -> JavaClass:
        """What its class declares; read at the first access."""
        return self.describe()

    @property
    def is_described(self) -> bool:
        """Whether its class was read, because a query calls it."""
        return "described" in vars(self)

    @property
    def signatures(self) -> tuple[JavaSignature, ...]:
        """Its signatures, in the order in which a call tries them."""
        return self.described.signatures

    @property
    def is_table(self) -> bool:
        """Whether it is a table function; otherwise it is a scalar function."""
        return self.described.is_table

    @property
    def deterministic(self) -> bool:
        """Whether equal arguments give equal results."""
        return self.described.deterministic

    @property
    def spark_name(self) -> str:
        """Start of its names in Spark; the same in every run of a script."""
        return spark_name(JAVA_PREFIX, self.class_name.rpartition(".")[2], self.class_name)

    def spark_name_of(self, signature: JavaSignature) -> str:
        """Return the name of a signature in Spark, which depends on no other signature."""
        text = f"{signature.usage()} {signature.result.sql()} {signature.parameters}"
        return f"{self.spark_name}_{digest(text)}"

    @property
    def is_aggregate(self) -> bool:
        """Whether it is an aggregate function, which is refused."""
        return False

    @property
    def table_hint(self) -> str:
        """What to do to call it in FROM."""
        return "extend TableFunction"

    @property
    def kind(self) -> str:
        """Kind of the function in messages."""
        return "a table function" if self.is_table else "a scalar function"

    def usages(self) -> list[str]:
        """Its argument lists, as messages show them."""
        return [signature.usage() for signature in self.signatures]


def java_function(
    statement: CreateFunction, jars: Sequence[str], describe: Describe
) -> JavaFunction:
    """Create a function; the class of a temporary function is read at once, as in Flink.

    Args:
        statement: its declaration.
        jars: paths of the jars in which its class may be.
        describe: returns the description of a class.

    Raises:
        StreamtableError: FUNCTION_UNUSABLE.
    """
    found = JavaFunction(
        statement.name[-1],
        statement.target,
        tuple(jars),
        statement.language,
        lambda: _java_class(statement, jars, describe(statement.target, jars)),
    )
    if statement.temporary:
        found.described  # noqa: B018 - reads the class
    return found


def _java_class(
    statement: CreateFunction, jars: Sequence[str], description: Mapping[str, Any]
) -> JavaClass:
    if "error" in description:
        raise _unusable(statement, description, jars)
    is_table = description["kind"] == "TABLE"
    try:
        signatures = [_signature(given, is_table=is_table) for given in description["overloads"]]
    except StreamtableError as error:
        raise StreamtableError(
            Condition.FUNCTION_UNUSABLE,
            at=statement.target_at,
            function=statement.target,
            reason=f"one of its hints names an invalid type: {error}",
        ) from error
    return JavaClass(tuple(signatures), is_table, description["deterministic"])


def _signature(given: Mapping[str, Any], *, is_table: bool) -> JavaSignature:
    result = parse_type(given["result"]["type"])
    return JavaSignature(
        tuple(parse_type(a["type"]) if a["type"] else None for a in given["arguments"]),
        given["variadic"],
        _rows_of(result) if is_table else result,
        tuple(given["parameters"]),
        given["spread"],
        tuple(a["class"] or "" for a in given["arguments"]),
    )


def _rows_of(result: DataType) -> DataType:
    """Return the ARRAY of the rows of a table function; a value is a row of one column, as EXPR$0.

    Flink names the column of a function without a ROW as its call, which a query cannot write.
    """
    rows = result if result.root is t.Root.ROW else t.row(t.Field("EXPR$0", result))
    return t.array(rows.with_nullable(False))


def _unusable(
    statement: CreateFunction, description: Mapping[str, Any], jars: Sequence[str]
) -> StreamtableError:
    lacking = description.get("lacking")
    reason, hint = description["error"], None
    if lacking == statement.target:
        reason = "no jar of the script has its class"
        searched = ", ".join(jar.rpartition("/")[2] for jar in jars)
        hint = "name its jar: ADD JAR 'path', or USING JAR 'path' in CREATE FUNCTION"
        hint += f"; searched: {searched}" if jars else ""
    elif lacking is not None:
        reason = f"its class needs the class {lacking}, which no jar of the script has"
        hint = _API_JARS if lacking.startswith(_API) else "ADD JAR with the jar of this class"
    return StreamtableError(
        Condition.FUNCTION_UNUSABLE,
        at=statement.target_at,
        function=statement.target,
        reason=reason,
        hint=hint,
    )
