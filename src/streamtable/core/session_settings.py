"""The settings of a session as its script goes on: what `SET`, `RESET` and `--set` do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamtable.core.errors import Condition, Span, StreamtableError, closest
from streamtable.core.options import Given, Option, Settings
from streamtable.core.settings import PYTHON_FILES, SETTINGS


class SessionSettings:
    """The settings in force at a point of a script; `--set` wins over `SET`."""

    def __init__(self, fixed: Mapping[str, Given] | None = None) -> None:
        self._fixed = dict(fixed or {})
        self._given: dict[str, Given] = {}
        for key, value in self._fixed.items():
            self._check(key, value, None)

    def set(self, key: str, value: Given, at: Span | None = None) -> None:
        """`SET 'key' = 'value'`, the key standing at `at`.

        Raises:
            StreamtableError: UNKNOWN_SETTING, INVALID_OPTION or NOT_YET.
        """
        self._check(key, value, at)
        self._given[key] = value

    def reset(self, key: str | None) -> None:
        """`RESET 'key'`, or all of them."""
        if key is None:
            self._given.clear()
        else:
            self._given.pop(key, None)

    def current(self) -> Settings:
        """The typed values in force; Spark's own keys are in `passthrough`, prefix removed."""
        return SETTINGS.read({**self._given, **self._fixed}, "session")

    def __getitem__(self, option: Option[Any]) -> Any:
        return self.current()[option]

    def _check(self, key: str, value: Given, at: Span | None) -> None:
        known = {option.key: option for option in SETTINGS.options}
        if key in known:
            known[key].read(value)
        elif not key.startswith("spark."):
            raise StreamtableError(
                Condition.UNKNOWN_SETTING, at=at, option=key, hint=closest(key, known)
            )


def python_files(settings: Settings) -> list[str]:
    """The places that `python.files` names."""
    return [place.strip() for place in settings[PYTHON_FILES].split(",") if place.strip()]
