"""What a format is."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from streamtable.core.changelog import ChangelogMode
from streamtable.core.codec import Codec
from streamtable.core.options import OptionSet, Settings
from streamtable.core.types import Field


class Format(Protocol):
    """One format, for the key or the value of a record."""

    @property
    def identifier(self) -> str:
        """The name in `key.format` and `value.format`."""

    @property
    def options(self) -> OptionSet:
        """Its options, without the `json.` or `value.json.` before each key."""

    @property
    def mode(self) -> ChangelogMode:
        """The row kinds it carries; insert-only formats can serve upsert-kafka."""

    @property
    def projectable(self) -> bool:
        """Whether a decoder may be built for some of the fields (`ProjectableDecodingFormat`)."""

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Bytes -> columns. Raises UNSUPPORTED_TYPE for a type that it cannot hold."""

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Columns -> bytes. Raises UNSUPPORTED_TYPE for a type that it cannot hold."""

    def skips_errors(self, settings: Settings) -> bool:
        """Whether a record that does not parse is counted and left out, and the job goes on."""


@runtime_checkable
class ChangelogFormat(Format, Protocol):
    """A format whose values are change events; `decoder` and `encoder` are those of its keys."""

    @property
    def metadata(self) -> tuple[Field, ...]:
        """What its events tell beside their rows; columns read it as `value.<name>`."""

    def change_decoder(
        self, fields: tuple[Field, ...], metadata: tuple[str, ...], settings: Settings
    ) -> Codec:
        """Bytes -> rows of the columns, then the named metadata."""

    def change_encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """A row kind and columns -> bytes."""


__all__ = ["ChangelogFormat", "Codec", "Format"]
