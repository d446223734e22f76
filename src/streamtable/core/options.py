"""Options as data: one `Option` per key, used for checks, help, hints and docs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.option_kinds import Kind
from streamtable.core.secrets import MASK, hide, is_secret

T = TypeVar("T")


@dataclass(frozen=True)
class Given:
    """An option value: its text and its place in the script.

    Attributes:
        inferred: whether another system gave the value, such as a schema registry.
    """

    text: str
    at: Span | None = None
    inferred: bool = False


@dataclass(frozen=True)
class Option(Generic[T]):
    """An option that a user may set.

    Attributes:
        key: the key in SQL.
        kind: type of the value.
        default: value if the option is not set; None: no default.
        doc: one sentence for help and reference.
        required: whether the option must be set.
        not_yet: why a value is not supported yet, and what to do instead; None: all values work.
        not_yet_value: the unsupported value; None: any value except the default.
        fallback_keys: alternative keys, used if the key itself is not set.
        secret: whether the value may contain a secret although the key does not indicate it.
        no_effect: why the option is accepted without an effect, with a notice; None: it has one.
        only_with: key, and value if only one counts, of the option without which this one has no
            effect, as in Flink. It is then accepted with a notice.
        encodes: whether the bytes that a format writes depend on the value.
        decodes: whether a format can read the same bytes as other rows with another value. An
            option is not meant that only decides which records fail or are skipped.
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
    no_effect: str | None = None
    only_with: tuple[str, str | None] | None = None
    encodes: bool = False
    decodes: bool = False

    def idle(self, given: Mapping[str, Given]) -> str | None:
        """Return why the option has no effect beside the other options; None if it has one."""
        if self.no_effect is not None:
            return f"here: {self.no_effect}"
        if self.only_with is None:
            return None
        key, value = self.only_with
        found = given.get(key)
        if found is not None and value in (None, found.text.strip().lower()):
            return None
        return f"without '{key}'" + ("" if value is None else f" = '{value}'")

    def read(self, given: Given, *, idle: bool = False, written: str | None = None) -> T:
        """Parse a value.

        Args:
            given: the value.
            idle: whether the option has no effect; an unsupported value is then accepted.
            written: the key in the script, for messages; None for the option's own key.

        Raises:
            StreamtableError: INVALID_OPTION or NOT_YET.
        """
        name = written or self.key
        shown = MASK if self.secret or is_secret(self.key) else given.text
        try:
            value = self.kind.read(given.text)
        except ValueError:
            raise StreamtableError(
                Condition.INVALID_OPTION,
                at=given.at,
                option=name,
                value=shown,
                expected=self.kind.expects,
            ) from None
        refused = value != self.default
        if self.not_yet_value is not None:
            refused = value == self.not_yet_value
        if self.not_yet is not None and refused and not idle:
            raise StreamtableError(
                Condition.NOT_YET,
                at=given.at,
                what=f"option '{name}' = '{shown}'",
                hint=self.not_yet,
            )
        return value


@dataclass(frozen=True)
class Settings:
    """Checked values of an option set.

    Attributes:
        values: typed values by key; only options that are set.
        given: the raw texts, for messages that refer to the script.
        passthrough: keys with the pass-through prefix, without the prefix; values are not parsed.
        prefix: the prefix of all keys in the script, such as `value.json.`.
        fallbacks: the keys in the script of options that are set by a fallback key.
    """

    values: Mapping[str, Any]
    given: Mapping[str, Given]
    passthrough: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""
    fallbacks: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, option: Option[T]) -> T:
        """Return the value or the default; for options that always have one of them."""
        return cast("T", self.values.get(option.key, option.default))

    def get(self, option: Option[T]) -> T | None:
        """Return the value, or the default, or None."""
        return cast("T | None", self.values.get(option.key, option.default))

    def family(self, prefix: str) -> dict[str, str]:
        """Return the options with a prefix, without the prefix; values are not parsed."""
        return {
            key.removeprefix(prefix): value.text
            for key, value in self.given.items()
            if key.startswith(prefix)
        }

    def has(self, option: Option[Any]) -> bool:
        """Return whether the script sets the option."""
        return option.key in self.values

    def written(self, key: str) -> str:
        """Return a key as the script has it, or would have it, for messages."""
        return self.prefix + self.fallbacks.get(key, key)

    def at(self, option: Option[Any]) -> Span | None:
        """Return the place where the script sets the option."""
        found = self.given.get(option.key)
        return found.at if found else None


#: A rule over several options of one table: raises a StreamtableError on a violation.
Rule = Callable[[Settings, str], None]


@dataclass(frozen=True)
class OptionSet:
    """Options of a connector or format.

    Attributes:
        owner: name of the connector or format in messages (`connector 'kafka'`).
        options: all options.
        passthrough: prefix of keys that are passed on without parsing, e.g. `properties.`.
        family: a second prefix of such keys, e.g. `sink.topic.config.`.
        rules: checks across options, run in order after all values are parsed.
    """

    owner: str
    options: tuple[Option[Any], ...]
    passthrough: str | None = None
    family: str | None = None
    rules: tuple[Rule, ...] = ()

    def keys(self) -> tuple[str, ...]:
        """All keys, in declaration order."""
        return tuple(option.key for option in self.options)

    def under(self, prefix: str) -> OptionSet:
        """Return the options with a prefix (`json.` makes `json.ignore-parse-errors`)."""
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
        """Replace fallback keys by the options' own keys."""
        found = dict(given)
        for option in self.options:
            for key in option.fallback_keys:
                if key in found:
                    value = found.pop(key)
                    found.setdefault(option.key, value)
        return found

    def read(
        self,
        given: Mapping[str, Given],
        table: str,
        at: Span | None = None,
        *,
        prefix: str = "",
    ) -> Settings:
        """Check the options of a table.

        Args:
            given: all options of the WITH clause, including `connector`.
            table: name of the table, for messages.
            at: place of the table's declaration, for missing keys.
            prefix: the prefix that the keys have in the script and not here, for messages.

        Raises:
            StreamtableError: UNKNOWN_OPTION, INVALID_OPTION, NOT_YET, MISSING_OPTION, or an error
                of a rule.
        """
        fallbacks = {
            option.key: key
            for option in self.options
            for key in option.fallback_keys
            if key in given and option.key not in given
        }
        given = self.spelled_out(given)
        by_key = {option.key: option for option in self.options}
        values: dict[str, Any] = {}
        passed: dict[str, str] = {}
        for key, value in given.items():
            # `credentials-source` takes one of a few keywords, which are not secret.
            if is_secret(key) and not key.endswith("credentials-source"):
                hide(value.text)
            if key in by_key:
                option = by_key[key]
                idle = option.idle(given) is not None
                written = prefix + fallbacks.get(key, key)
                values[key] = option.read(value, idle=idle, written=written)
            elif self.passthrough and key.startswith(self.passthrough):
                passed[key.removeprefix(self.passthrough)] = value.text
            elif not (self.family and key.startswith(self.family)):
                raise StreamtableError(
                    Condition.UNKNOWN_OPTION,
                    at=value.at,
                    hint=closest(prefix + key, [prefix + own for own in by_key]),
                    table=table,
                    option=prefix + key,
                    owner=self.owner,
                )
        settings = Settings(values, dict(given), passed, prefix, fallbacks)
        self._check_required(settings, table, at)
        for rule in self.rules:
            rule(settings, table)
        return settings

    def notices(self, given: Mapping[str, Given]) -> Iterator[str]:
        """Yield a line, with its place, for each option that is set and has no effect."""
        given = self.spelled_out(given)
        for option in self.options:
            if option.key in given and (reason := option.idle(given)) is not None:
                place = f"{at}: " if (at := given[option.key].at) else ""
                yield f"{place}option '{option.key}' has no effect {reason}"

    def _check_required(self, settings: Settings, table: str, at: Span | None) -> None:
        for option in self.options:
            if option.required and not settings.has(option):
                key = settings.written(option.key)
                raise StreamtableError(
                    Condition.MISSING_OPTION,
                    at=at,
                    hint=f"add '{key}' = '...' to its WITH clause",
                    table=table,
                    option=key,
                    owner=self.owner,
                )
