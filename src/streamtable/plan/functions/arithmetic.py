"""Arithmetic functions."""

from __future__ import annotations

from collections.abc import Callable

from streamtable.core.types import (
    APPROXIMATE,
    DOUBLE,
    INT,
    INTEGERS,
    MAX_DECIMAL_PRECISION,
    STRING,
    DataType,
    Root,
    decimal,
)
from streamtable.plan.binding.arithmetic import arithmetic
from streamtable.plan.binding.bound import Bound
from streamtable.plan.binding.coercion import precision_of, scale_of
from streamtable.plan.functions.kinds import EXACT, LONG, NUMBER, REAL, TEXT, WHOLE
from streamtable.plan.functions.model import (
    Arguments,
    Category,
    Function,
    Nulls,
    Overload,
    constant,
    lacking,
    of_roots,
    one,
)
from streamtable.plan.functions.time.temporal import CEILS, FLOORS

_ARITHMETIC = Category.ARITHMETIC
#: Larger DOUBLEs have no fraction, and Spark's CEIL and FLOOR would exceed BIGINT's range.
_WHOLE_FROM = "9007199254740992D"
_EXACT_ROOTS = (Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT, Root.DECIMAL)


def _alike(arguments: Arguments) -> DataType:
    return arguments[0].type


def _real(name: str, doc: str, sql: str | None = None) -> Function:
    return one(name, _ARITHMETIC, (REAL,), DOUBLE, sql or name.lower() + "({0})", doc)


def _logarithm(function: str, argument: str) -> str:
    """Return a logarithm as in Java: -Infinity for zero, NaN below zero; Spark returns NULL."""
    below = f"if({argument} = 0, double('-Infinity'), {argument} * double('NaN'))"
    return f"if({argument} > 0, {function}({argument}), {below})"


def _log_to_base(arguments: Arguments) -> str:
    base, number = (_logarithm("ln", a.sql) for a in arguments)
    left, right = Bound(number, DOUBLE), Bound(base, DOUBLE)
    return arithmetic("/", left, right, None).sql


def _whole_type(arguments: Arguments) -> DataType:
    kind = arguments[0].type
    return decimal(precision_of(kind), 0) if kind.root is Root.DECIMAL else kind


def _whole(function: str) -> Overload:
    def sql(arguments: Arguments) -> str:
        value = arguments[0]
        target = _whole_type(arguments).spark_sql()
        if value.type.root in APPROXIMATE:
            whole = f"CAST({function}({value.sql}) AS {target})"
            return f"if(abs({value.sql}) < {_WHOLE_FROM}, {whole}, {value.sql})"
        return f"CAST({function}({value.sql}) AS {target})"

    return Overload((NUMBER,), _whole_type, sql)


def _rounded_type(arguments: Arguments) -> DataType:
    """Return the type of Flink's `findRoundDecimalType`: a carry may add a digit."""
    kind, digits = arguments[0].type, _digits(arguments)
    if kind.root is not Root.DECIMAL or digits >= scale_of(kind):
        return kind
    whole = precision_of(kind) - scale_of(kind) + 1
    return decimal(min(whole + max(digits, 0), MAX_DECIMAL_PRECISION), max(digits, 0))


def _digits(arguments: Arguments) -> int:
    return int(str(arguments[1].constant)) if len(arguments) > 1 else 0


def _round(arguments: Arguments) -> str:
    kind = _rounded_type(arguments).spark_sql()
    return f"CAST(round({arguments[0].sql}, {_digits(arguments)}) AS {kind})"


def _truncate(arguments: Arguments) -> str:
    value, digits = arguments[0].sql, _digits(arguments)
    kind = _rounded_type(arguments).spark_sql()
    cut = f"if({value} < 0, ceil({value}, {digits}), floor({value}, {digits}))"
    return f"CAST({cut} AS {kind})"


def _placed(function: str, exact: Callable[[Arguments], str]) -> tuple[Overload, ...]:
    """Return the overloads of ROUND and TRUNCATE; DOUBLEs use the digits that Java prints."""

    def approximate(arguments: Arguments) -> str:
        value, *places = arguments
        digits = places[0].sql if places else "0"
        moved = f"flink_{function}_to(CAST({value.sql} AS DOUBLE), {digits})"
        return f"CAST({moved} AS {value.type.spark_sql()})"

    def whole(arguments: Arguments) -> str:
        value, places = arguments
        moved = f"flink_{function}_whole(CAST({value.sql} AS BIGINT), {places.sql})"
        return f"CAST({moved} AS {value.type.spark_sql()})"

    return (
        Overload((_EXACT_NUMBER, _PLACES), _rounded_type, exact, 1),
        Overload((_APPROXIMATE_NUMBER, WHOLE), _alike, approximate, 1),
        Overload((_WHOLE_NUMBER, WHOLE), _alike, whole),
        lacking(f"{function.upper()} of a DECIMAL to places that are no literal", NUMBER, LONG),
    )


def _mod(arguments: Arguments) -> str:
    return _remainder(arguments).sql


def _mod_type(arguments: Arguments) -> DataType:
    return _remainder(arguments).type


def _remainder(arguments: Arguments) -> Bound:
    left, right = arguments
    return arithmetic("%", left, right, left.at)


_PLACES = constant(WHOLE)
_WHOLE_NUMBER = of_roots("an integer", INTEGERS, INT)
_APPROXIMATE_NUMBER = of_roots("a FLOAT or DOUBLE", APPROXIMATE, DOUBLE)
_EXACT_NUMBER = of_roots("an integer or DECIMAL", _EXACT_ROOTS, INT)

ARITHMETIC = (
    one("POWER", _ARITHMETIC, (REAL, REAL), DOUBLE, "power({0}, {1})", "A power."),
    one("ABS", _ARITHMETIC, (NUMBER,), _alike, "abs({0})", "Without the sign."),
    _real("SQRT", "The square root."),
    one(
        "LN",
        _ARITHMETIC,
        (REAL,),
        DOUBLE,
        lambda a: _logarithm("ln", a[0].sql),
        "The natural logarithm.",
    ),
    one(
        "LOG10",
        _ARITHMETIC,
        (REAL,),
        DOUBLE,
        lambda a: _logarithm("log10", a[0].sql),
        "The logarithm to base 10.",
    ),
    one(
        "LOG2",
        _ARITHMETIC,
        (REAL,),
        DOUBLE,
        lambda a: _logarithm("log2", a[0].sql),
        "The logarithm to base 2.",
    ),
    Function(
        "LOG",
        _ARITHMETIC,
        (
            Overload((REAL,), DOUBLE, lambda a: _logarithm("ln", a[0].sql)),
            Overload((REAL, REAL), DOUBLE, _log_to_base),
        ),
        "The natural logarithm, or that of the second argument to the base of the first.",
    ),
    _real("EXP", "e to a power."),
    Function("CEIL", _ARITHMETIC, (_whole("ceil"), CEILS), "Rounded up."),
    Function("CEILING", _ARITHMETIC, (_whole("ceil"), CEILS), "Same as CEIL."),
    Function("FLOOR", _ARITHMETIC, (_whole("floor"), FLOORS), "Rounded down."),
    _real("SIN", "The sine."),
    _real("SINH", "The hyperbolic sine."),
    _real("COS", "The cosine."),
    _real("COSH", "The hyperbolic cosine."),
    _real("TAN", "The tangent."),
    _real("TANH", "The hyperbolic tangent."),
    _real("COT", "The cotangent."),
    _real("ASIN", "The arc sine."),
    _real("ACOS", "The arc cosine."),
    _real("ATAN", "The arc tangent."),
    one(
        "ATAN2", _ARITHMETIC, (REAL, REAL), DOUBLE, "atan2({0}, {1})", "The angle of a coordinate."
    ),
    _real("DEGREES", "Radians in degrees."),
    _real("RADIANS", "Degrees in radians."),
    one(
        "SIGN",
        _ARITHMETIC,
        (NUMBER,),
        _alike,
        lambda a: f"CAST(sign({a[0].sql}) AS {a[0].type.spark_sql()})",
        "-1, 0 or 1.",
    ),
    Function("ROUND", _ARITHMETIC, _placed("round", _round), "Rounded half up to so many places."),
    Function("TRUNCATE", _ARITHMETIC, _placed("truncate", _truncate), "Cut to so many places."),
    one("MOD", _ARITHMETIC, (EXACT, EXACT), _mod_type, _mod, "The remainder."),
    one("PI", _ARITHMETIC, (), DOUBLE, "pi()", "The number pi."),
    one("E", _ARITHMETIC, (), DOUBLE, "e()", "The number e."),
    Function(
        "RAND",
        _ARITHMETIC,
        (
            Overload((), DOUBLE, "rand()", nulls=Nulls.NEVER, deterministic=False),
            lacking("RAND with a seed", WHOLE),
        ),
        "A random number from 0 up to 1.",
    ),
    Function(
        "RAND_INTEGER",
        _ARITHMETIC,
        (
            Overload((WHOLE,), INT, "CAST(floor(rand() * {0}) AS INT)", deterministic=False),
            lacking("RAND_INTEGER with a seed", WHOLE, WHOLE),
        ),
        "A random integer from 0 up to the argument.",
    ),
    Function(
        "UUID",
        _ARITHMETIC,
        (
            Overload(
                (),
                DataType(Root.CHAR, precision=36),
                "uuid()",
                nulls=Nulls.NEVER,
                deterministic=False,
            ),
        ),
        "A random UUID.",
    ),
    one("BIN", _ARITHMETIC, (LONG,), STRING, "bin({0})", "The number in binary digits."),
    Function(
        "HEX",
        _ARITHMETIC,
        (
            Overload((LONG,), STRING, "hex({0})"),
            Overload((TEXT,), STRING, "hex({0})"),
        ),
        "The number or the text's bytes in hexadecimal digits.",
    ),
)
