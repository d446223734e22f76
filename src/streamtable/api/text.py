"""Text: SQL of a program with the variables that it was given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """A text of Flink SQL.

    Attributes:
        text: the text as written.
        variables: values of its `${name}`; the environment supplies the rest.
    """

    text: str
    variables: Mapping[str, str]

    def after(self, words: str) -> Text:
        """Return the text behind other words, such as `INSERT INTO t`."""
        return Text(f"{words} {self.text}", self.variables)
