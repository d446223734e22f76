"""Options of formats that use a Confluent-compatible schema registry: where it is and who asks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import MASK, TEXT, Option

if TYPE_CHECKING:
    from streamtable.core.options import Rule, Settings

URL = Option(
    "url", TEXT, doc="Address of the schema registry's API; several split by `,`.", required=True
)
SUBJECT = Option(
    "subject",
    TEXT,
    doc="Where a sink registers its schema; by default `<topic>-key` or `<topic>-value`.",
)
KEYSTORE = Option(
    "ssl.keystore.location", TEXT, doc="File of the client's own key (JKS or PKCS12)."
)
KEYSTORE_PASSWORD = Option("ssl.keystore.password", TEXT, doc="Its password.")
TRUSTSTORE = Option(
    "ssl.truststore.location", TEXT, doc="File of the certificates trusted (JKS or PKCS12)."
)
TRUSTSTORE_PASSWORD = Option("ssl.truststore.password", TEXT, doc="Its password.")
BASIC_SOURCE = Option(
    "basic-auth.credentials-source",
    TEXT,
    doc="`USER_INFO` (the option `basic-auth.user-info`) or `URL` (`user:password@` in the url).",
)
BASIC_USER = Option("basic-auth.user-info", TEXT, doc="`user:password`.")
BEARER_SOURCE = Option(
    "bearer-auth.credentials-source", TEXT, doc="`STATIC_TOKEN` (the option `bearer-auth.token`)."
)
BEARER_TOKEN = Option("bearer-auth.token", TEXT, doc="The token.")

CONNECTION: tuple[Option[Any], ...] = (
    URL,
    KEYSTORE,
    KEYSTORE_PASSWORD,
    TRUSTSTORE,
    TRUSTSTORE_PASSWORD,
    BASIC_SOURCE,
    BASIC_USER,
    BEARER_SOURCE,
    BEARER_TOKEN,
)

#: Keys of Confluent's Java client that mean something to ours, under `properties.`.
_FORWARDED = ("http.connect.timeout.ms", "http.read.timeout.ms")


def connection(settings: Settings) -> dict[str, str]:
    """What the Java client needs, by the names of the options; holds secrets."""
    given = {option.key: settings[option] for option in CONNECTION if settings.has(option)}
    return {**given, **{f"properties.{k}": v for k, v in settings.passthrough.items()}}


def _usable_url(settings: Settings, _table: str) -> None:
    for url in settings[URL].split(","):
        if not re.fullmatch(r"https?://[^/\s?#]+(/[^\s?#]*)?", url.strip()):
            raise StreamtableError(
                Condition.INVALID_OPTION,
                at=settings.at(URL),
                option=URL.key,
                value=re.sub(r"//[^/]*@", f"//{MASK}@", url),
                expected="an address such as 'http://localhost:8081'",
            )


def _forwarded(settings: Settings, _table: str) -> None:
    for key, text in settings.passthrough.items():
        at = settings.given[f"properties.{key}"].at
        if key not in _FORWARDED:
            raise StreamtableError(
                Condition.NOT_YET,
                at=at,
                what=f"option 'properties.{key}' of a schema registry",
                hint=f"there are {', '.join(_FORWARDED)}, and the options of the format itself",
            )
        if not re.fullmatch(r"[1-9]\d{0,8}", text):
            raise StreamtableError(
                Condition.INVALID_OPTION,
                at=at,
                option=f"properties.{key}",
                value=text,
                expected="a number of milliseconds",
            )


def _credentials(
    source: Option[str], value: Option[str], usual: str, others: tuple[str, ...] = ()
) -> Rule:
    """`source` says where credentials come from, `value` holds them where it says `usual`."""

    def check(settings: Settings, table: str) -> None:
        chosen = settings.get(source)
        if settings.has(value) and chosen != usual:
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=settings.at(value),
                reason=f"{table} sets '{value.key}' without '{source.key}' = '{usual}'",
                hint=f"add '{source.key}' = '{usual}'; without it, nobody would look at the value",
            )
        if chosen == usual and not settings.has(value):
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=settings.at(source),
                reason=f"{table} sets '{source.key}' = '{usual}' without '{value.key}'",
                hint=f"add '{value.key}' = '...'",
            )
        if chosen not in (None, usual, *others):
            raise StreamtableError(
                Condition.NOT_YET,
                at=settings.at(source),
                what=f"option '{source.key}' = '{chosen}'",
                hint=f"there are {', '.join((usual, *others))}",
            )

    return check


def _one_kind(settings: Settings, table: str) -> None:
    if settings.has(BASIC_SOURCE) and settings.has(BEARER_SOURCE):
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=settings.at(BEARER_SOURCE),
            reason=f"{table} sets both '{BASIC_SOURCE.key}' and '{BEARER_SOURCE.key}'",
            hint="keep one of them",
        )


REGISTRY_RULES: tuple[Rule, ...] = (
    _usable_url,
    _forwarded,
    _credentials(BASIC_SOURCE, BASIC_USER, "USER_INFO", ("URL",)),
    _credentials(BEARER_SOURCE, BEARER_TOKEN, "STATIC_TOKEN"),
    _one_kind,
)
