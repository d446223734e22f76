"""Secrets that this process has been given, and texts without them.

A value becomes a secret by where it comes from (`${secret_values.name}`, `${file:...}`) or by the
option that it is given to (`properties.sasl.jaas.config`). Whatever leaves the process as text goes
through `without_secrets`: errors, plans, notices, the checkpoint.
"""

from __future__ import annotations

import re

#: What a secret prints as, wherever it would show.
MASK = "****"

#: Shorter ones could not be hidden without hiding ordinary words with them.
_SHORTEST = 4

_KEY = re.compile(
    r"password|secret|token|jaas|accesskey|credential|user[.-]info|keystore\.key",
    re.IGNORECASE,
)
_IN_JAAS = re.compile(r"""(?:password|secret)\w*\s*=\s*["']([^"']+)["']""", re.IGNORECASE)

_known: set[str] = set()


def is_secret(key: str) -> bool:
    """Whether values of this key must never reach a log, an error or a plan."""
    return bool(_KEY.search(key))


def hide(value: str) -> None:
    """From now on the value is a secret; so are the passwords in it, where it is a login."""
    parts = [value, *value.splitlines(), *_IN_JAAS.findall(value)]
    _known.update(part for part in parts if len(part) >= _SHORTEST)


def forget_secrets() -> None:
    """As in a new process, which has been given none; for tests, which share one."""
    _known.clear()


def without_secrets(text: str) -> str:
    """The text with every known secret masked, the longest first."""
    for value in sorted(_known, key=len, reverse=True):
        text = text.replace(value, MASK)
    return text
