"""A client of Confluent-compatible schema registries without a JVM, for readers only."""

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
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.tools import java_tool

_TIMEOUT_S = 15.0
_OAUTH = "properties.bearer.auth."
#: Settings that only the Java client supports: Python's TLS cannot read Java keystores.
_LACKING = ("ssl.keystore.location", "properties.proxy.host")


class RegistrySchemas:
    """A cache of parsed writer schemas by id; each schema is fetched once.

    Args:
        settings: the result of `formats.registry_client.connection`.

    Raises:
        StreamtableError: NOT_YET for settings that only the Java client supports.
    """

    def __init__(self, settings: Mapping[str, str]) -> None:
        for key in _LACKING:
            if key in settings:
                raise StreamtableError(
                    Condition.NOT_YET,
                    what=f"showing topics with '{key}' of a schema registry",
                    hint="jobs can use it; give an address of the registry that needs none",
                )
        self._settings = settings
        self._urls = [url.strip().rstrip("/") for url in settings["url"].split(",")]
        self._context = _trust(settings)
        self._by_id: dict[int, list[Any]] = {}

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
            subject = urllib.parse.quote(str(reference["subject"]), safe="")
            path = f"/subjects/{subject}/versions/{reference['version']}"
            parts += [part for part in self._with_references(self._ask(path)) if part not in parts]
        return [*parts, json.loads(found["schema"])]

    def _ask(self, path: str) -> Mapping[str, Any]:
        reason = ""
        for url in self._urls:
            try:
                return self._send(self._request(url, path))
            except urllib.error.HTTPError as error:
                raise _fault(Condition.SCHEMA_REGISTRY_FAILED, url, _message(error)) from None
            except (OSError, ValueError) as error:
                reason = type(error).__name__
        raise _fault(Condition.SCHEMA_REGISTRY_UNREACHABLE, self._urls[0], reason)

    def _send(self, request: urllib.request.Request) -> Mapping[str, Any]:
        with urllib.request.urlopen(  # noqa: S310 - the address is checked: http or https
            request, timeout=_TIMEOUT_S, context=self._context
        ) as answer:
            found: Mapping[str, Any] = json.load(answer)
        return found

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


def _basic(user: str) -> str:
    return "Basic " + base64.b64encode(user.encode()).decode()


def _without_user(url: str) -> tuple[str, str | None]:
    """Split an address into the address without credentials and its `user:password`."""
    parts = urllib.parse.urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    return parts._replace(netloc=host).geturl(), urllib.parse.unquote(user) if at else None


def _message(error: urllib.error.HTTPError) -> str:
    try:
        message = json.load(error).get("message", "")
    except (ValueError, AttributeError):
        message = ""
    return f"{message} (HTTP {error.code})".strip()


def _fault(condition: Condition, url: str, reason: str) -> StreamtableError:
    hint = "check the option 'url' and the credentials"
    return StreamtableError(condition, url=_without_user(url)[0], reason=reason, hint=hint)


def _trust(settings: Mapping[str, str]) -> ssl.SSLContext | None:
    """Load the certificates of a Java truststore, which Java's keytool prints as text."""
    store = settings.get("ssl.truststore.location")
    if store is None:
        return None
    listed = subprocess.run(  # noqa: S603 - Java's own tool; the password is not shown
        [
            str(java_tool("java").resolve().parent / "keytool"),
            *("-list", "-rfc", "-keystore", store, "-storepass:env", "STOREPASS"),
        ],
        env={**os.environ, "STOREPASS": settings.get("ssl.truststore.password", "")},
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        reason = "its SSL options: the truststore cannot be read"
        raise _fault(Condition.SCHEMA_REGISTRY_FAILED, settings["url"].split(",")[0], reason)
    return ssl.create_default_context(cadata=listed.stdout)
