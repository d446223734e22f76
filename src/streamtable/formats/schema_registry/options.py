"""Options of formats with a Confluent-compatible schema registry: addresses and credentials."""

from __future__ import annotations

import re
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.option_kinds import TEXT, Kind
from streamtable.core.options import Option, Settings

URL = Option(
    "url",
    TEXT,
    doc="URL of the schema registry; several are separated by `,`.",
    required=True,
    fallback_keys=("schema-registry.url",),
)
SUBJECT = Option(
    "subject",
    TEXT,
    doc="Subject for the schema of a sink. Default: `<topic>-key` or `<topic>-value`.",
    fallback_keys=("schema-registry.subject",),
    encodes=True,
)
KEYSTORE = Option(
    "ssl.keystore.location", TEXT, doc="Keystore with the client's key (JKS or PKCS12)."
)
KEYSTORE_PASSWORD = Option("ssl.keystore.password", TEXT, doc="Its password.")
TRUSTSTORE = Option(
    "ssl.truststore.location", TEXT, doc="Truststore with trusted certificates (JKS or PKCS12)."
)
TRUSTSTORE_PASSWORD = Option("ssl.truststore.password", TEXT, doc="Its password.")
BASIC_SOURCE = Option(
    "basic-auth.credentials-source",
    TEXT,
    doc="`USER_INFO` (the option `basic-auth.user-info`), `URL` (`user:password@` in the url) or"
    " `SASL_INHERIT` (`properties.sasl.jaas.config`).",
)
BASIC_USER = Option("basic-auth.user-info", TEXT, doc="`user:password`.")
BEARER_SOURCE = Option(
    "bearer-auth.credentials-source",
    TEXT,
    doc="`STATIC_TOKEN` (the option `bearer-auth.token`), `OAUTHBEARER`"
    " (`properties.bearer.auth.*`) or `SASL_OAUTHBEARER_INHERIT` (`properties.sasl.*`).",
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


def needed_subject(settings: Settings, format_: str) -> str:
    """Return the subject of a sink.

    Raises:
        StreamtableError: MISSING_OPTION.
    """
    subject = settings.get(SUBJECT)
    if subject is None:
        raise StreamtableError(
            Condition.MISSING_OPTION,
            at=settings.at(URL),
            hint="it is the name under which the schema is registered",
            table="that is written to",
            option=settings.written(SUBJECT.key),
            owner=f"format '{format_}'",
        )
    return subject


def unusable_schema(settings: Settings, key: str, expected: str) -> StreamtableError:
    """Return INVALID_OPTION for a schema in the options of a format."""
    text = re.sub(r"\s+", " ", settings.given[key].text)
    return StreamtableError(
        Condition.INVALID_OPTION,
        at=settings.given[key].at,
        option=settings.written(key),
        value=text if len(text) <= 60 else text[:60] + "...",
        expected=expected,
    )


_PAIR = re.compile(r"""\s*([^\s:,'"{}]+)\s*:\s*('(?:[^']|'')*'|"[^"]*"|[^,]*?)\s*(?:,|\Z)""")


def _pairs(text: str) -> dict[str, str]:
    """Parse `key:value,key:value`, optionally in braces as in YAML; values may be quoted."""
    inner = text.strip()
    if inner.startswith("{") and inner.endswith("}"):
        inner = inner[1:-1].strip()
    pairs, at = {}, 0
    while at < len(inner):
        found = _PAIR.match(inner, at)
        if found is None:
            raise ValueError(text)
        pairs[found[1]] = _unquoted(found[2])
        at = found.end()
    return pairs


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'") if text[:1] in ("'", '"') else text


PROPERTIES = Option(
    "properties",
    Kind("Map", "pairs such as 'proxy.host:localhost,proxy.port:3128'", _pairs),
    doc="Settings of the registry client in one string; `properties.<key>` sets a single one.",
    secret=True,
)
