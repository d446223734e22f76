"""Protocols of formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from streamtable.core.changelog import ChangelogMode
from streamtable.core.codec import Codec
from streamtable.core.options import OptionSet, Settings
from streamtable.core.shown_options import value_shown
from streamtable.core.types import Field


class Format(Protocol):
    """A format for the key or the value of a record."""

    @property
    def identifier(self) -> str:
        """The name for `key.format` and `value.format`."""

    @property
    def options(self) -> OptionSet:
        """The format's options, without a prefix such as `json.` or `value.json.`."""

    @property
    def mode(self) -> ChangelogMode:
        """The supported row kinds; insert-only formats can be used with upsert-kafka."""

    @property
    def projectable(self) -> bool:
        """Whether a decoder can decode some of the fields (`ProjectableDecodingFormat`)."""

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from bytes to columns; raise UNSUPPORTED_TYPE for unsupported types."""

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from columns to bytes; raise UNSUPPORTED_TYPE for unsupported types."""

    def skips_errors(self, settings: Settings) -> bool:
        """Return whether records that do not parse are counted and skipped."""


@runtime_checkable
class LineFormat(Format, Protocol):
    """A format for files with one record per line."""

    @property
    def is_line(self) -> bool:
        """Whether a record is a line of UTF-8 text without a line end."""


@runtime_checkable
class NestedFormat(Format, Protocol):
    """A format whose decoder can also decode some of the fields of a ROW."""

    @property
    def projects_rows(self) -> bool:
        """Whether a ROW column may have some of its fields (Flink's nested projection)."""


@runtime_checkable
class ChangelogFormat(Format, Protocol):
    """A format whose values are change events; `decoder` and `encoder` apply to its keys."""

    @property
    def metadata(self) -> tuple[Field, ...]:
        """The metadata fields of its events; columns read them as `value.<name>`."""

    def change_decoder(
        self, fields: tuple[Field, ...], metadata: tuple[str, ...], settings: Settings
    ) -> Codec:
        """Return the codec from bytes to rows of the columns, followed by the named metadata."""

    def change_encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Return the codec from a row kind and columns to bytes."""


def row_options(format_: Format, settings: Settings, *, written: bool) -> Mapping[str, str]:
    """Return the options on which rows depend, unless they have their default value.

    Args:
        format_: the format.
        settings: its options.
        written: whether the format writes the rows (`Option.encodes`) or reads them.
    """
    found = {
        option.key: settings.values[option.key]
        for option in format_.options.options
        if (option.encodes if written else option.decodes)
        and settings.get(option) != option.default
    }
    return {f"{format_.identifier}.{key}": value_shown(value) for key, value in found.items()}


__all__ = ["ChangelogFormat", "Codec", "Format", "LineFormat", "row_options"]
