"""Model of a built-in function: names, signatures, result types and Spark SQL, as data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.types import NULL, DataType, Root
from streamtable.plan.binding.bound import SYMBOL, Bound, TimeAttribute, derived
from streamtable.plan.binding.casts import explicit_cast
from streamtable.plan.binding.coercion import common_type

Arguments = tuple[Bound, ...]
#: Spark SQL of a call: a template with `{0}`, `{1}`, ... or a function of the arguments.
Builder = str | Callable[[Arguments], str]
#: Type of a call: fixed, or computed from the arguments. `Nulls` sets its nullability.
Result = DataType | Callable[[Arguments], DataType]


class Category(Enum):
    """The chapters of Flink's *System (Built-in) Functions* page."""

    COMPARISON = "Comparison"
    LOGICAL = "Logical"
    ARITHMETIC = "Arithmetic"
    STRING = "String"
    TEMPORAL = "Temporal"
    CONDITIONAL = "Conditional"
    CONVERSION = "Type Conversion"
    COLLECTION = "Collection"
    JSON = "JSON"
    VARIANT = "Variant"
    CONSTRUCTION = "Value Construction"
    MODIFICATION = "Value Modification"
    ACCESS = "Value Access"
    GROUPING = "Grouping"
    HASH = "Hash"
    BITMAP = "Bitmap"
    AUXILIARY = "Auxiliary"
    AGGREGATE = "Aggregate"


class Nulls(Enum):
    """When the result type of a call is nullable."""

    IF_ARGUMENTS = "if any argument does"
    ALWAYS = "always"
    NEVER = "never"
    AS_RESULT = "as the result's own type says"


@dataclass(frozen=True)
class Kind:
    """Kind of argument.

    Attributes:
        name: name in messages.
        take: returns the argument cast to the type that the builder expects; None if it does not
            match.
    """

    name: str
    take: Callable[[Bound], Bound | None]


def of_roots(name: str, roots: Collection[Root], to: DataType, *, convert: bool = False) -> Kind:
    """Return a kind with given types; an untyped NULL is cast to `to`, others too if `convert`."""

    def take(argument: Bound) -> Bound | None:
        if argument.type is SYMBOL:
            return None
        if argument.type.root is Root.NULL or (convert and argument.type.root in roots):
            return explicit_cast(argument, to)
        return argument if argument.type.root in roots else None

    return Kind(name, take)


def keyword(*names: str) -> Kind:
    """Return a kind that accepts keywords, such as a unit of time."""

    def take(argument: Bound) -> Bound | None:
        return argument if argument.type is SYMBOL and argument.constant in names else None

    return Kind(" | ".join(names), take)


def constant(of: Kind) -> Kind:
    """Return a kind that accepts only literals of another kind."""

    def take(argument: Bound) -> Bound | None:
        return of.take(argument) if argument.constant is not None else None

    return Kind(f"{of.name} (a literal)", take)


@dataclass(frozen=True)
class Overload:
    """One signature of a function.

    Attributes:
        takes: kinds of the arguments.
        gives: type of the result.
        sql: Spark SQL of a call.
        optional: number of trailing arguments that may be omitted.
        repeats: whether the last argument may be repeated.
        nulls: when the result may be NULL.
        pairs: whether the arguments form pairs.
        common_from: first position of the arguments that are cast to their common type, if any.
        merging: whether that type follows Flink's own rule (`coercion.common_type`).
        fits: a final check of all arguments; returns None if they do not match.
        deterministic: whether equal arguments give equal results.
        time_attribute: time attribute of the result.
        lacking: name of this signature if it is not supported yet.
        json: whether the result is JSON, which is embedded in other JSON unchanged.
        shown: argument list in messages, for functions with a special syntax.
    """

    takes: tuple[Kind, ...]
    gives: Result
    sql: Builder
    optional: int = 0
    repeats: bool = False
    pairs: bool = False
    common_from: int | None = None
    merging: bool = False
    nulls: Nulls = Nulls.IF_ARGUMENTS
    fits: Callable[[Arguments], Arguments | None] | None = None
    deterministic: bool = True
    time_attribute: TimeAttribute | None = None
    lacking: str | None = None
    json: bool = False
    shown: str | None = None

    def accept(self, arguments: Sequence[Bound]) -> Arguments | None:
        """Return the arguments as the builder expects them; None if they do not match."""
        least = len(self.takes) - self.optional
        if len(arguments) < least or (len(arguments) > len(self.takes) and not self.repeats):
            return None
        if self.pairs and len(arguments) % 2:
            return None
        taken = []
        for position, argument in enumerate(arguments):
            fitting = self.takes[min(position, len(self.takes) - 1)].take(argument)
            if fitting is None:
                return None
            taken.append(fitting)
        if self.common_from is not None:
            return self._unified(taken)
        return tuple(taken) if self.fits is None else self.fits(tuple(taken))

    def _unified(self, taken: list[Bound]) -> Arguments | None:
        kept, alike = taken[: self.common_from], taken[self.common_from :]
        kind = common_type([argument.type for argument in alike], merging=self.merging)
        if kind is None or kind.root is Root.NULL:
            return None
        return (*kept, *(explicit_cast(a, kind.with_nullable(a.type.nullable)) for a in alike))

    def bind(self, arguments: Arguments) -> Bound:
        """Bind the call over accepted arguments; NOT_YET if this signature is not supported."""
        if self.lacking is not None:
            raise StreamtableError(Condition.NOT_YET, what=self.lacking)
        kind = self.gives if isinstance(self.gives, DataType) else self.gives(arguments)
        if self.nulls is not Nulls.AS_RESULT:
            nullable = self.nulls is Nulls.ALWAYS or (
                self.nulls is Nulls.IF_ARGUMENTS and any(a.type.nullable for a in arguments)
            )
            kind = kind.with_nullable(nullable)
        if isinstance(self.sql, str):
            sql = self.sql.format(*(argument.sql for argument in arguments))
        else:
            sql = self.sql(arguments)
        bound = replace(derived(sql, kind, arguments), json=self.json)
        if self.deterministic:
            return bound
        return replace(bound, deterministic=False, time_attribute=self.time_attribute)

    def usage(self) -> str:
        """Argument list as messages show it."""
        if self.shown is not None:
            return self.shown
        names = [kind.name for kind in self.takes]
        required = len(names) - self.optional
        shown = [n if i < required else f"[{n}]" for i, n in enumerate(names)]
        return "(" + ", ".join(shown) + (", ...)" if self.repeats else ")")


@dataclass(frozen=True)
class Function:
    """A scalar function.

    Attributes:
        name: in upper case.
        category: chapter of the function.
        overloads: signatures, tried in order; empty if the function is not supported yet.
        doc: one sentence.
        instead: replacement for a function without overloads.
        placed: whether the function is valid only in clauses of its own, which `instead` names.
        since: Flink version that added the function, if it is known to be late; 2.2 has all others.
    """

    name: str
    category: Category
    overloads: tuple[Overload, ...] = ()
    doc: str = ""
    instead: str | None = None
    placed: bool = False
    since: str | None = None

    @property
    def lacking(self) -> bool:
        """Whether Flink has the function and streamtable does not support it anywhere."""
        return not self.overloads and not self.placed

    @property
    def available(self) -> bool:
        """Whether the function can be called."""
        return bool(self.overloads)

    def bind(self, arguments: Sequence[Bound], at: Span | None) -> Bound:
        """Bind a call of the function.

        Raises:
            StreamtableError: NOT_YET; INVALID_WINDOW for a function that is valid only in certain
                clauses; ARGUMENT_MISMATCH if no signature matches.
        """
        if self.placed:
            raise StreamtableError(
                Condition.INVALID_WINDOW,
                at=at,
                function=self.name,
                reason="it is not a scalar function",
                hint=self.instead,
            )
        if not self.available:
            what = f"function {self.name}"
            raise StreamtableError(Condition.NOT_YET, at=at, what=what, hint=self.instead)
        for overload in self.overloads:
            taken = overload.accept(arguments)
            if taken is not None:
                try:
                    return overload.bind(taken).located(at)
                except StreamtableError as error:
                    raise error.located(at) from None
        found = [str(a.constant) if a.type is SYMBOL else a.type.sql() for a in arguments]
        raise StreamtableError(
            Condition.ARGUMENT_MISMATCH,
            at=at,
            function=self.name,
            expected=" or ".join(o.usage() for o in self.overloads if o.lacking is None),
            found=", ".join(found),
        )


def lacking(what: str, *takes: Kind) -> Overload:
    """Return an unsupported signature."""
    return Overload(takes, NULL, "", lacking=what)


def one(
    name: str,
    category: Category,
    takes: tuple[Kind, ...],
    gives: Result,
    sql: Builder,
    doc: str,
    *,
    optional: int = 0,
    nulls: Nulls = Nulls.IF_ARGUMENTS,
) -> Function:
    """Define a function with a single signature."""
    return Function(name, category, (Overload(takes, gives, sql, optional, nulls=nulls),), doc)
