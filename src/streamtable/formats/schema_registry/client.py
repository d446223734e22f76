"""Settings of the Java client of a schema registry: properties, credentials, and rules.

The keys under `properties.` are the keys of Confluent's Java client, which Flink also passes to
that client. Each key is applied, replaced by an option, or refused with the reason. Options
override properties.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.core.secrets import MASK, hide
from streamtable.formats.schema_registry.options import (
    BASIC_SOURCE,
    BASIC_USER,
    BEARER_SOURCE,
    BEARER_TOKEN,
    CONNECTION,
    KEYSTORE,
    KEYSTORE_PASSWORD,
    PROPERTIES,
    TRUSTSTORE,
    TRUSTSTORE_PASSWORD,
    URL,
)

if TYPE_CHECKING:
    from streamtable.core.errors import Span
    from streamtable.core.options import Option, Rule, Settings

#: An address that Java's HTTP client takes: login, host, port and path. It knows no host with an
#: underscore, and would print an address that it cannot parse with the login.
_ADDRESS = re.compile(
    r"https?://(([\w.~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@)?([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d+)?"
    r"(/[^\s?#]*)?",
    re.ASCII,
)
#: Confluent's keys that are also options of the format.
_SAME_AS: dict[str, Option[Any]] = {
    "basic.auth.credentials.source": BASIC_SOURCE,
    "basic.auth.user.info": BASIC_USER,
    "schema.registry.basic.auth.user.info": BASIC_USER,
    "bearer.auth.credentials.source": BEARER_SOURCE,
    "bearer.auth.token": BEARER_TOKEN,
    "schema.registry.ssl.keystore.location": KEYSTORE,
    "schema.registry.ssl.keystore.password": KEYSTORE_PASSWORD,
    "schema.registry.ssl.truststore.location": TRUSTSTORE,
    "schema.registry.ssl.truststore.password": TRUSTSTORE_PASSWORD,
}
_NUMBERS = (
    "http.connect.timeout.ms",
    "http.read.timeout.ms",
    "proxy.port",
    "bearer.auth.cache.expiry.buffer.seconds",
)
_ISSUER = "bearer.auth.issuer.endpoint.url"
_CLIENT_ID = "bearer.auth.client.id"
_CLIENT_SECRET = "bearer.auth.client.secret"  # noqa: S105 - a key, not a secret
_SCOPE = "bearer.auth.scope"
_JAAS = "sasl.jaas.config"
_TOKEN_URL = "sasl.oauthbearer.token.endpoint.url"  # noqa: S105
_TEXTS = (
    "proxy.host",
    "schema.registry.ssl.keystore.type",
    "schema.registry.ssl.truststore.type",
    "schema.registry.ssl.key.password",
    *(_ISSUER, _CLIENT_ID, _CLIENT_SECRET, _SCOPE),
    "bearer.auth.logical.cluster",
    "bearer.auth.identity.pool.id",
    *(_JAAS, _TOKEN_URL),
)
_NO_SUCH_CACHE = "this client does not cache missing entries"
_REFUSED = {
    "bearer.auth.custom.provider.class": (
        "it names a Java class of Confluent's client library,"
        " which is not part of this client; fetch the token"
        " and set it as 'bearer-auth.token'"
    ),
    "bearer.auth.scope.claim.name": "tokens are sent unchanged and are not parsed",
    "bearer.auth.sub.claim.name": "tokens are sent unchanged and are not parsed",
    "missing.cache.size": _NO_SUCH_CACHE,
    "missing.id.cache.ttl.sec": _NO_SUCH_CACHE,
    "missing.version.cache.ttl.sec": _NO_SUCH_CACHE,
    "missing.schema.cache.ttl.sec": _NO_SUCH_CACHE,
    "schema.registry.ssl.endpoint.identification.algorithm": "the registry's certificate is always"
    " checked against its host name",
    "schema.registry.ssl.protocol": "Java chooses the newest common TLS version",
    "schema.registry.ssl.enabled.protocols": "Java chooses the newest common TLS version",
}


def connection(settings: Settings) -> dict[str, str]:
    """Return the settings of the Java client, by option name; they contain secrets."""
    found = {
        option.key: value
        for option in CONNECTION
        if (value := _value(settings, option)) is not None
    }
    rest = {k: v for k, v in _properties(settings).items() if k not in _SAME_AS}
    jaas = _jaas_options(rest.pop(_JAAS, ""))
    token_url = rest.pop(_TOKEN_URL, None)
    if found.get(BASIC_SOURCE.key) == "SASL_INHERIT":
        found[BASIC_USER.key] = f"{jaas['username']}:{jaas['password']}"
    if found.get(BEARER_SOURCE.key) == "SASL_OAUTHBEARER_INHERIT" and token_url:
        inherited = {_ISSUER: token_url, _CLIENT_ID: jaas["clientId"]}
        rest |= inherited | {_CLIENT_SECRET: jaas["clientSecret"]}
        if "scope" in jaas:
            rest[_SCOPE] = jaas["scope"]
    return {**found, **{f"properties.{key}": value for key, value in rest.items()}}


def prefixed_connection(settings: Settings) -> dict[str, str]:
    """Return `connection` with the prefix that sets it apart from other parameters of a codec."""
    return {f"registry.{key}": value for key, value in connection(settings).items()}


def _properties(settings: Settings) -> dict[str, str]:
    """Return `properties` and `properties.*`; a single key overrides the map."""
    in_one: dict[str, str] = settings.get(PROPERTIES) or {}
    return {**in_one, **settings.passthrough}


def _value(settings: Settings, option: Option[str]) -> str | None:
    if settings.has(option):
        return settings[option]
    given = _properties(settings)
    return next(
        (given[key] for key, same in _SAME_AS.items() if same is option and key in given), None
    )


def _at(settings: Settings, key: str) -> Span | None:
    single = settings.given.get(f"properties.{key}")
    return single.at if single else settings.at(PROPERTIES)


def _source_at(settings: Settings, option: Option[str]) -> Span | None:
    if settings.has(option):
        return settings.at(option)
    given = _properties(settings)
    return next(
        (_at(settings, k) for k, same in _SAME_AS.items() if same is option and k in given), None
    )


def _jaas_options(text: str) -> dict[str, str]:
    """Parse the options of `module required name="value" ...;`."""
    pairs = re.findall(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))', text)
    return {name: re.sub(r"\\(.)", r"\1", quoted) or plain for name, quoted, plain in pairs}


def _usable_url(settings: Settings, _table: str) -> None:
    for url in settings[URL].split(","):
        if not _ADDRESS.fullmatch(url.strip()):
            raise StreamtableError(
                Condition.INVALID_OPTION,
                at=settings.at(URL),
                option=settings.written(URL.key),
                value=re.sub(r"//[^/]*@", f"//{MASK}@", url),
                expected="an address such as 'http://localhost:8081', with a host of letters,"
                " digits, dots and hyphens",
            )
        written = urlsplit(url.strip()).password or ""
        hide(written)
        hide(unquote(written))


def _known_properties(settings: Settings, table: str) -> None:
    known = (*_SAME_AS, *_NUMBERS, *_TEXTS)
    for key, text in _properties(settings).items():
        option = settings.written(f"properties.{key}")
        if key in _REFUSED:
            raise StreamtableError(
                Condition.OPTION_NOT_SETTABLE,
                at=_at(settings, key),
                option=option,
                reason=_REFUSED[key],
                hint=f"remove it from the WITH clause of {table}",
            )
        if key not in known:
            raise StreamtableError(
                Condition.UNKNOWN_OPTION,
                at=_at(settings, key),
                hint=closest(key, known) or f"there are {', '.join(known)}",
                table=table,
                option=option,
                owner="the client of a schema registry",
            )
        if key in _NUMBERS and not re.fullmatch(r"[1-9]\d{0,8}", text):
            raise StreamtableError(
                Condition.INVALID_OPTION,
                at=_at(settings, key),
                option=option,
                value=text,
                expected="a whole number above zero",
            )


def _proxy(settings: Settings, table: str) -> None:
    given = _properties(settings)
    if ("proxy.host" in given) != ("proxy.port" in given):
        there = "proxy.host" if "proxy.host" in given else "proxy.port"
        lacking = "proxy.port" if there == "proxy.host" else "proxy.host"
        at = _at(settings, there)
        raise _lacking(settings, table, f"properties.{there}", f"properties.{lacking}", at)


def _stores(settings: Settings, table: str) -> None:
    """Require the password of a keystore, as Kafka's clients do, and the file of a password."""
    for there, lacking in (
        (KEYSTORE, KEYSTORE_PASSWORD),
        (KEYSTORE_PASSWORD, KEYSTORE),
        (TRUSTSTORE_PASSWORD, TRUSTSTORE),
    ):
        if _value(settings, there) is not None and _value(settings, lacking) is None:
            at = _source_at(settings, there)
            raise _lacking(settings, table, there.key, lacking.key, at)


def _credentials(source: Option[str], value: Option[str], usual: str) -> Rule:
    """Require credentials in `value` if `source` is `usual`, and refuse them otherwise."""

    def check(settings: Settings, table: str) -> None:
        chosen, held = _value(settings, source), _value(settings, value)
        at = _source_at(settings, source)
        if held is not None and chosen != usual:
            needed = f"'{settings.written(source.key)}' = '{usual}'"
            raise StreamtableError(
                Condition.OPTION_CONFLICT,
                at=_source_at(settings, value),
                reason=f"{table} sets '{settings.written(value.key)}' without {needed}",
                hint=f"add {needed}; without it, the value has no effect",
            )
        if chosen == usual and held is None:
            raise _lacking(settings, table, f"{source.key}' = '{usual}", value.key, at)

    return check


def _lacking(
    settings: Settings, table: str, there: str, lacking: str, at: Span | None
) -> StreamtableError:
    there, lacking = settings.written(there), settings.written(lacking)
    return StreamtableError(
        Condition.OPTION_CONFLICT,
        at=at,
        reason=f"{table} sets '{there}' without '{lacking}'",
        hint=f"add '{lacking}' = '...'",
    )


def _basic_source(settings: Settings, table: str) -> None:
    chosen, at = _value(settings, BASIC_SOURCE), _source_at(settings, BASIC_SOURCE)
    if chosen not in (None, "USER_INFO", "URL", "SASL_INHERIT"):
        every = "USER_INFO, URL or SASL_INHERIT"
        raise _unknown_source(settings, BASIC_SOURCE, chosen, every, at)
    if chosen == "SASL_INHERIT":
        _check_jaas(settings, table, BASIC_SOURCE, ("username", "password"))


def _bearer_source(settings: Settings, table: str) -> None:
    chosen, at = _value(settings, BEARER_SOURCE), _source_at(settings, BEARER_SOURCE)
    given = _properties(settings)
    if chosen == "CUSTOM":
        raise StreamtableError(
            Condition.OPTION_NOT_SETTABLE,
            at=at,
            option=settings.written(BEARER_SOURCE.key),
            reason=f"'CUSTOM': {_REFUSED['bearer.auth.custom.provider.class'].partition(';')[0]}",
            hint=f"fetch the token and set it as '{settings.written(BEARER_TOKEN.key)}'",
        )
    if chosen not in (None, "STATIC_TOKEN", "OAUTHBEARER", "SASL_OAUTHBEARER_INHERIT"):
        every = "STATIC_TOKEN, OAUTHBEARER or SASL_OAUTHBEARER_INHERIT"
        raise _unknown_source(settings, BEARER_SOURCE, chosen, every, at)
    needed: tuple[str, ...] = ()
    if chosen == "OAUTHBEARER":
        needed = (_ISSUER, _CLIENT_ID, _CLIENT_SECRET)
    elif chosen == "SASL_OAUTHBEARER_INHERIT":
        needed = (_TOKEN_URL,)
        _check_jaas(settings, table, BEARER_SOURCE, ("clientId", "clientSecret"))
    for key in needed:
        if key not in given:
            there = f"{BEARER_SOURCE.key}' = '{chosen}"
            raise _lacking(settings, table, there, f"properties.{key}", at)


def _check_jaas(
    settings: Settings, table: str, source: Option[str], names: tuple[str, ...]
) -> None:
    text = _properties(settings).get(_JAAS)
    if text is None:
        there = f"{source.key}' = '{_value(settings, source)}"
        at = _source_at(settings, source)
        raise _lacking(settings, table, there, f"properties.{_JAAS}", at)
    lacking = [name for name in names if name not in _jaas_options(text)]
    if lacking:
        raise StreamtableError(
            Condition.INVALID_OPTION,
            at=_at(settings, _JAAS),
            option=settings.written(f"properties.{_JAAS}"),
            value=MASK,
            expected=f"a login module with {' and '.join(lacking)}",
        )


def _unknown_source(
    settings: Settings, option: Option[str], chosen: str | None, expected: str, at: Span | None
) -> StreamtableError:
    return StreamtableError(
        Condition.INVALID_OPTION,
        at=at,
        option=settings.written(option.key),
        value=chosen,
        expected=expected,
    )


def _one_kind(settings: Settings, table: str) -> None:
    if _value(settings, BASIC_SOURCE) and _value(settings, BEARER_SOURCE):
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=_source_at(settings, BEARER_SOURCE),
            reason=f"{table} sets both '{settings.written(BASIC_SOURCE.key)}' and"
            f" '{settings.written(BEARER_SOURCE.key)}'",
            hint="keep one of them",
        )


REGISTRY_RULES: tuple[Rule, ...] = (
    _usable_url,
    _known_properties,
    _proxy,
    _stores,
    _basic_source,
    _bearer_source,
    _credentials(BASIC_SOURCE, BASIC_USER, "USER_INFO"),
    _credentials(BEARER_SOURCE, BEARER_TOKEN, "STATIC_TOKEN"),
    _one_kind,
)
