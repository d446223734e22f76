"""Options as data: one `Option` per key, from which checks, help, hints and docs derive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from typing import Any, Generic, TypeVar, cast

from streamtable.core.durations import format_duration, parse_duration
from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.secrets import MASK, hide, is_secret

T = TypeVar("T")
E_co = TypeVar("E_co", bound=Enum)


@dataclass(frozen=True)
class Given:
    """An option as the script gives it: its text and where it stands."""

    text: str
    at: Span | None = None


@dataclass(frozen=True)
class Kind(Generic[T]):
    """How a value is read: `read` raises ValueError on what `expects` does not describe."""

    name: str
    expects: str
    read: Callable[[str], T]


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


TEXT: Kind[str] = Kind("String", "a text", str)
BOOLEAN: Kind[bool] = Kind("Boolean", "'true' or 'false'", _boolean)
DURATION: Kind[timedelta] = Kind(
    "Duration", "a duration such as '10 s' or '500 ms'", parse_duration
)
NAMES: Kind[tuple[str, ...]] = Kind(
    "List<String>",
    "a list of names separated by ';'",
    lambda text: tuple(part.strip() for part in text.split(";") if part.strip()),
)


def integer(minimum: int | None = None) -> Kind[int]:
    """A whole number, not below `minimum` where one is given."""

    def read(text: str) -> int:
        number = int(text.strip())
        if minimum is not None and number < minimum:
            raise ValueError(text)
        return number

    bound = "" if minimum is None else f" not below {minimum}"
    return Kind("Integer", f"a whole number{bound}", read)


def duration(minimum: timedelta) -> Kind[timedelta]:
    """A duration that is not below a minimum."""

    def read(text: str) -> timedelta:
        span = parse_duration(text)
        if span < minimum:
            raise ValueError(text)
        return span

    return Kind("Duration", f"a duration of at least {format_duration(minimum)}", read)


def choice(values: type[E_co]) -> Kind[E_co]:
    """One member of an enum whose values are the spellings; case does not matter, as in Flink."""
    known = {str(member.value).lower(): member for member in values}

    def read(text: str) -> E_co:
        if text.strip().lower() not in known:
            raise ValueError(text)
        return known[text.strip().lower()]

    return Kind("Enum", "one of " + ", ".join(str(m.value) for m in values), read)


@dataclass(frozen=True)
class Option(Generic[T]):
    """One key that a user may set.

    Attributes:
        key: as written in SQL.
        kind: how its text is read.
        default: the value when it is not given; None where there is none.
        doc: one sentence for help and reference.
        required: whether leaving it out is an error.
        not_yet: why a value is refused today, and the way out; None once all of them work.
        not_yet_value: the value that is refused; None: any but the default.
        fallback_keys: other spellings that count where the key itself is not given.
        secret: whether the value may hold a secret though its key does not say so.
    """

    key: str
    kind: Kind[T]
    default: T | None = None
    doc: str = ""
    required: bool = False
    not_yet: str | None = None
    not_yet_value: T | None = None
    fallback_keys: tuple[str, ...] = ()
    secret: bool = False

    def read(self, given: Given) -> T:
        """The typed value; INVALID_OPTION or NOT_YET otherwise."""
        shown = MASK if self.secret or is_secret(self.key) else given.text
        try:
            value = self.kind.read(given.text)
        except ValueError:
            raise StreamtableError(
                Condition.INVALID_OPTION,
                at=given.at,
                option=self.key,
                value=shown,
                expected=self.kind.expects,
            ) from None
        refused = value != self.default
        if self.not_yet_value is not None:
            refused = value == self.not_yet_value
        if self.not_yet is not None and refused:
            raise StreamtableError(
                Condition.NOT_YET,
                at=given.at,
                what=f"option '{self.key}' = '{shown}'",
                hint=self.not_yet,
            )
        return value


@dataclass(frozen=True)
class Settings:
    """Checked values of one option set.

    Attributes:
        values: typed, by key; only what was given.
        given: the raw texts behind them, for messages that point back at the script.
        passthrough: keys of the pass-through prefix, prefix removed, handed on unread.
    """

    values: Mapping[str, Any]
    given: Mapping[str, Given]
    passthrough: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, option: Option[T]) -> T:
        """The value given, else the default; for options that always have one of the two."""
        return cast("T", self.values.get(option.key, option.default))

    def get(self, option: Option[T]) -> T | None:
        """The value given, else the default, else None."""
        return cast("T | None", self.values.get(option.key, option.default))

    def family(self, prefix: str) -> dict[str, str]:
        """What was given under a prefix, which is removed; values unread."""
        return {
            key.removeprefix(prefix): value.text
            for key, value in self.given.items()
            if key.startswith(prefix)
        }

    def has(self, option: Option[Any]) -> bool:
        """Whether the script gave it."""
        return option.key in self.values

    def at(self, option: Option[Any]) -> Span | None:
        """Where the script gave it."""
        found = self.given.get(option.key)
        return found.at if found else None


#: A rule over several options of one table: raises a StreamtableError when it is broken.
Rule = Callable[[Settings, str], None]


@dataclass(frozen=True)
class OptionSet:
    """The options of one connector or format.

    Attributes:
        owner: who has them, as messages say it (`connector 'kafka'`).
        options: every key it knows.
        passthrough: a prefix whose keys are handed on unread, e.g. `properties.`.
        family: another prefix of such keys, e.g. `sink.topic.config.`.
        rules: checks across options, run in order once each value has been read.
    """

    owner: str
    options: tuple[Option[Any], ...]
    passthrough: str | None = None
    family: str | None = None
    rules: tuple[Rule, ...] = ()

    def keys(self) -> tuple[str, ...]:
        """Every key, in declaration order."""
        return tuple(option.key for option in self.options)

    def under(self, prefix: str) -> OptionSet:
        """The same options with a prefix before each key (`ignore-parse-errors` under `json.`)."""
        moved = tuple(
            replace(
                option,
                key=prefix + option.key,
                fallback_keys=tuple(prefix + key for key in option.fallback_keys),
            )
            for option in self.options
        )
        return replace(self, options=moved, rules=())

    def spelled_out(self, given: Mapping[str, Given]) -> dict[str, Given]:
        """The same values under the keys themselves, where they stand under fallback keys."""
        found = dict(given)
        for option in self.options:
            for key in option.fallback_keys:
                if key in found:
                    value = found.pop(key)
                    found.setdefault(option.key, value)
        return found

    def read(self, given: Mapping[str, Given], table: str, at: Span | None = None) -> Settings:
        """Checks the options of one table.

        Args:
            given: everything its WITH clause holds, `connector` included.
            table: its name, for messages.
            at: where the table is declared; used where a key is missing.

        Raises:
            StreamtableError: UNKNOWN_OPTION, INVALID_OPTION, NOT_YET, MISSING_OPTION, or what a
                rule raises.
        """
        given = self.spelled_out(given)
        by_key = {option.key: option for option in self.options}
        values: dict[str, Any] = {}
        passed: dict[str, str] = {}
        for key, value in given.items():
            # Where credentials come from is one of some words, which may stand anywhere.
            if is_secret(key) and not key.endswith("credentials-source"):
                hide(value.text)
            if key in by_key:
                values[key] = by_key[key].read(value)
            elif self.passthrough and key.startswith(self.passthrough):
                passed[key.removeprefix(self.passthrough)] = value.text
            elif not (self.family and key.startswith(self.family)):
                raise StreamtableError(
                    Condition.UNKNOWN_OPTION,
                    at=value.at,
                    hint=closest(key, by_key),
                    table=table,
                    option=key,
                    owner=self.owner,
                )
        self._check_required(values, given, table, at)
        settings = Settings(values, dict(given), passed)
        for rule in self.rules:
            rule(settings, table)
        return settings

    def _check_required(
        self,
        values: Mapping[str, Any],
        given: Mapping[str, Given],
        table: str,
        at: Span | None,
    ) -> None:
        for option in self.options:
            if option.required and option.key not in values and option.key not in given:
                raise StreamtableError(
                    Condition.MISSING_OPTION,
                    at=at,
                    hint=f"add '{option.key}' = '...' to its WITH clause",
                    table=table,
                    option=option.key,
                    owner=self.owner,
                )


def documented(sets: Iterable[OptionSet]) -> list[tuple[str, str, str, str]]:
    """Rows for help and reference pages: key, type, default or `required`, doc."""
    rows = []
    for options in sets:
        for option in options.options:
            default = "required" if option.required else _shown(option.default)
            doc = option.doc
            if option.fallback_keys:
                doc += f" Also `{'`, `'.join(option.fallback_keys)}`."
            if option.not_yet is not None:
                value = option.not_yet_value
                doc += " Not there yet." if value is None else f" {_shown(value)}: not there yet."
            rows.append((option.key, option.kind.name, default, doc))
    return rows


def _shown(default: object) -> str:
    match default:
        case None | ():
            return "(none)"
        case timedelta():
            return format_duration(default)
        case Enum():
            return str(default.value)
        case bool():
            return str(default).lower()
        case _:
            return str(default)
