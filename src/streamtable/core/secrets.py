"""Secrets of this process, and their removal from texts.

A value becomes a secret in one of two ways: by its source (`${secret_values.name}`, `${file:...}`),
or by the option that it is assigned to (`properties.sasl.jaas.config`). All text that leaves the
process passes through `without_secrets`: errors, plans, notices and the checkpoint. JSON data
passes through `masked` before it becomes text: JSON escapes some characters of a secret, and a
secret may equal a number of the data.
"""

from __future__ import annotations

import re
from typing import Any

#: Replacement text for secrets.
MASK = "****"

#: Values of settings with keys of secrets that are switches, such as `...delegation.token`.
_BOOLEANS = ("true", "false")

#: Minimum length of a secret; masking shorter ones would also mask ordinary words.
_SHORTEST = 4

_KEY = re.compile(
    r"password|secret|token|jaas|accesskey|credential|user[.-]info|keystore\.key"
    # OpenLineage, and the object stores of Azure, Google and S3.
    r"|api[-_.]?key|account\.key|azure\.sas|private[-_.]?key|encryption\.key\b",
    re.IGNORECASE,
)
_IN_JAAS = re.compile(r"""(?:password|secret)\w*\s*=\s*["']([^"']+)["']""", re.IGNORECASE)

_known: set[str] = set()


def is_secret(key: str) -> bool:
    """Return whether values of this key must be hidden in logs, errors and plans."""
    return bool(_KEY.search(key))


def holds_secret(key: str, value: str) -> bool:
    """Return whether a value must be hidden: because of its key, or of a known secret in it."""
    return is_secret(key) or without_secrets(value) != value


def shown_option(key: str, value: str) -> str:
    """Return the value of an option for people, secrets masked."""
    return MASK if is_secret(key) else without_secrets(value)


def hide(value: str) -> None:
    """Register a value as a secret; passwords inside a login are registered too.

    A boolean is no secret.
    """
    if value.strip().lower() in _BOOLEANS:
        return
    parts = [value, *value.splitlines(), *_IN_JAAS.findall(value)]
    _known.update(part for part in parts if len(part) >= _SHORTEST)


def forget_secrets() -> None:
    """Forget all secrets, as in a new process; for tests, which share a process."""
    _known.clear()


def without_secrets(text: str) -> str:
    """Mask every known secret in a text, the longest first."""
    for value in sorted(_known, key=len, reverse=True):
        text = text.replace(value, MASK)
    return text


def masked(data: Any, *, keys: bool = True) -> Any:
    """Return JSON data with every known secret masked in its texts.

    Args:
        data: values as `json.dumps` takes them.
        keys: whether to mask the keys of objects, too.
    """
    match data:
        case str():
            return without_secrets(data)
        case list() | tuple():
            return [masked(part, keys=keys) for part in data]
        case dict():
            named = data.items()
            return {masked(k) if keys else k: masked(part, keys=keys) for k, part in named}
    return data
