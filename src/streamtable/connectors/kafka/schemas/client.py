"""A client of Confluent-compatible schema registries without a JVM: it only reads.

Tasks use the Java client of `jvm`. This client serves what needs no Spark: columns that a script
leaves to the registry, the tables of a catalog, and topics that are shown to people.
"""

from __future__ import annotations

import base64
import json
import os
import ssl
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamtable.connector_api.registered import RegisteredSchema
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.formats.schema_registry.client import connection
from streamtable.formats.schema_registry.options import (
    KEYSTORE,
    TRUSTSTORE,
    TRUSTSTORE_PASSWORD,
    URL,
)
from streamtable.jvm.install.tools import java_tool

_TIMEOUT_S = 15.0
_OAUTH = "properties.bearer.auth."
#: Confluent's error codes of a subject or a version that does not exist.
_ABSENT = (40401, 40402)


@dataclass(frozen=True)
class LatestSchema:
    """The latest version of a subject.

    Attributes:
        type: the registry's name of the schema language: `AVRO`, `JSON` or `PROTOBUF`.
    """

    subject: str
    type: str
    schema: RegisteredSchema


class SchemaRegistry:
    """A client that asks each question once.

    Args:
        options: the options of a format, or of a catalog, with those of the registry.

    Raises:
        StreamtableError: NOT_YET for settings that only the Java client supports.
    """

    def __init__(self, options: Settings) -> None:
        self._options = options
        settings = connection(options)
        if KEYSTORE.key in settings:  # Python's TLS cannot read Java keystores
            option = options.written(KEYSTORE.key)
            raise StreamtableError(
                Condition.NOT_YET,
                what=f"reading a schema registry with '{option}' outside of a job",
                hint="declare the columns of the table; the tasks of a job can use it",
            )
        self._settings = settings
        self._urls = [url.strip().rstrip("/") for url in settings["url"].split(",")]
        self._opener = self._proxied()
        self._by_id: dict[int, list[Any]] = {}
        self._answers: dict[str, Any] = {}

    @property
    def url(self) -> str:
        """The first address without credentials, for messages."""
        return _without_user(self._urls[0])[0]

    def subjects(self) -> list[str]:
        """Return the names of all subjects.

        Raises:
            StreamtableError: SCHEMA_REGISTRY_FAILED or SCHEMA_REGISTRY_UNREACHABLE.
        """
        return [str(name) for name in self._ask("/subjects")]

    def latest(self, subject: str) -> LatestSchema | None:
        """Return the latest schema of a subject; None if the subject does not exist.

        Raises:
            StreamtableError: SCHEMA_REGISTRY_FAILED or SCHEMA_REGISTRY_UNREACHABLE.
        """
        found = self._ask(_version_path(subject, "latest"), absent=True)
        if found is None:
            return None
        type_ = str(found.get("schemaType") or "AVRO")
        return LatestSchema(subject, type_, self._registered(found))

    def _registered(self, found: Mapping[str, Any]) -> RegisteredSchema:
        references = {
            str(one["name"]): self._registered(
                self._ask(_version_path(str(one["subject"]), str(one["version"])))
            )
            for one in found.get("references") or ()
        }
        return RegisteredSchema(str(found["schema"]), references)

    def parts(self, schema_id: int) -> list[Any]:
        """Return the schemas that an id references, then the schema of the id.

        Raises:
            StreamtableError: SCHEMA_REGISTRY_FAILED or SCHEMA_REGISTRY_UNREACHABLE.
        """
        if schema_id not in self._by_id:
            self._by_id[schema_id] = self._with_references(self._ask(f"/schemas/ids/{schema_id}"))
        return self._by_id[schema_id]

    def _with_references(self, found: Mapping[str, Any]) -> list[Any]:
        parts = []
        for reference in found.get("references") or ():
            path = _version_path(str(reference["subject"]), str(reference["version"]))
            parts += [part for part in self._with_references(self._ask(path)) if part not in parts]
        return [*parts, json.loads(found["schema"])]

    def _ask(self, path: str, *, absent: bool = False) -> Any:
        """Return the answer to a request; None if it does not exist and `absent` is set."""
        if path not in self._answers:
            self._answers[path] = self._asked(path, absent=absent)
        return self._answers[path]

    def _asked(self, path: str, *, absent: bool) -> Any:
        reason = ""
        for url in self._urls:
            try:
                return self._send(self._request(url, path))
            except urllib.error.HTTPError as error:
                code, message = _message(error)
                if absent and code in _ABSENT:
                    return None
                raise self._fault(Condition.SCHEMA_REGISTRY_FAILED, url, message) from None
            except (OSError, ValueError) as error:
                reason = type(error).__name__
        raise self._fault(Condition.SCHEMA_REGISTRY_UNREACHABLE, self._urls[0], reason)

    def _send(self, request: urllib.request.Request) -> Any:
        with self._opener.open(request, timeout=_TIMEOUT_S) as answer:
            return json.load(answer)

    def _request(self, url: str, path: str) -> urllib.request.Request:
        bare, user = _without_user(url)
        settings = self._settings
        user = settings.get("basic-auth.user-info", user)
        request = urllib.request.Request(bare + path)  # noqa: S310
        if user is not None:
            request.add_header("Authorization", _basic(user))
        elif "bearer-auth.token" in settings:
            request.add_header("Authorization", f"Bearer {settings['bearer-auth.token']}")
        elif f"{_OAUTH}issuer.endpoint.url" in settings:
            request.add_header("Authorization", f"Bearer {self._token()}")
        for header, key in (
            ("target-sr-cluster", "logical.cluster"),
            ("Confluent-Identity-Pool-Id", "identity.pool.id"),
        ):
            if _OAUTH + key in settings:
                request.add_header(header, settings[_OAUTH + key])
        return request

    def _token(self) -> str:
        settings = self._settings
        form = {"grant_type": "client_credentials"}
        if f"{_OAUTH}scope" in settings:
            form["scope"] = settings[f"{_OAUTH}scope"]
        request = urllib.request.Request(  # noqa: S310
            settings[f"{_OAUTH}issuer.endpoint.url"], urllib.parse.urlencode(form).encode()
        )
        client = f"{settings[f'{_OAUTH}client.id']}:{settings[f'{_OAUTH}client.secret']}"
        request.add_header("Authorization", _basic(client))
        return str(self._send(request)["access_token"])

    def _fault(self, condition: Condition, url: str, reason: str) -> StreamtableError:
        hint = f"check the option '{self._options.written(URL.key)}' and the credentials"
        return StreamtableError(condition, url=_without_user(url)[0], reason=reason, hint=hint)

    def _proxied(self) -> urllib.request.OpenerDirector:
        """Return an opener that uses the proxy of the options, or else of the environment."""
        settings = self._settings
        handlers: list[urllib.request.BaseHandler] = []
        if "properties.proxy.host" in settings:
            proxy = (
                f"http://{settings['properties.proxy.host']}:{settings['properties.proxy.port']}"
            )
            handlers.append(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
        context = self._trust()
        if context is not None:
            handlers.append(urllib.request.HTTPSHandler(context=context))
        return urllib.request.build_opener(*handlers)

    def _trust(self) -> ssl.SSLContext | None:
        """Load the certificates of a Java truststore, which Java's keytool prints as text.

        Without a password, keytool reads an empty line and does not check the store.
        """
        settings = self._settings
        password = settings.get(TRUSTSTORE_PASSWORD.key)
        store = settings.get(TRUSTSTORE.key)
        if store is None:
            return None
        listed = subprocess.run(  # noqa: S603 - Java's own tool; the password is not shown
            [
                str(java_tool("java").resolve().parent / "keytool"),
                *("-list", "-rfc", "-keystore", store),
                *(("-storepass:env", "STOREPASS") if password else ()),
            ],
            env={**os.environ, "STOREPASS": password or ""},
            input="\n",
            capture_output=True,
            text=True,
            check=False,
        )
        if listed.returncode:
            raise StreamtableError(
                Condition.SCHEMA_REGISTRY_FAILED,
                url=self.url,
                reason="the truststore cannot be read",
                hint=f"check '{self._options.written(TRUSTSTORE.key)}' and its password",
            )
        return ssl.create_default_context(cadata=listed.stdout)


def _basic(user: str) -> str:
    return "Basic " + base64.b64encode(user.encode()).decode()


def _without_user(url: str) -> tuple[str, str | None]:
    """Split an address into the address without credentials and its `user:password`."""
    parts = urllib.parse.urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=host).geturl(), urllib.parse.unquote(user) if at else None


def _message(error: urllib.error.HTTPError) -> tuple[int, str]:
    """Return the registry's error code, or 0, and a text with its message."""
    try:
        found = json.load(error)
        code, message = int(found.get("error_code", 0)), found.get("message", "")
    except (ValueError, AttributeError, TypeError):
        code, message = 0, ""
    return code, f"{message} (HTTP {error.code})".strip()


def _version_path(subject: str, version: str) -> str:
    return f"/subjects/{urllib.parse.quote(subject, safe='')}/versions/{version}"
