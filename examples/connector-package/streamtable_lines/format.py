"""The format `psv`: values separated by `|`.

A format says which Java codec turns bytes into columns, and back. This one takes the codec of `csv`
with another separator. A codec of your own is a Java class in a jar that `spark.jars` names.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.core.changelog import APPEND, ChangelogMode
from streamtable.core.codec import Codec
from streamtable.core.option_kinds import TEXT
from streamtable.core.options import Option, OptionSet, Settings
from streamtable.core.types import Field
from streamtable.formats.csv import CSV, DELIMITER

NULL_LITERAL = Option("null-literal", TEXT, default="-", doc="The text that stands for NULL.")
_OPTIONS = OptionSet("format 'psv'", (NULL_LITERAL,))


@dataclass(frozen=True)
class PsvFormat:
    """Fulfils `streamtable.connector_api.format.LineFormat`."""

    identifier: str = "psv"
    mode: ChangelogMode = APPEND
    options: OptionSet = _OPTIONS
    projectable: bool = False
    is_line: bool = True  # so that connector `filesystem` takes it as well

    def decoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Lines -> columns."""
        return CSV.decoder(fields, _csv(settings))

    def encoder(self, fields: tuple[Field, ...], settings: Settings) -> Codec:
        """Columns -> lines."""
        return CSV.encoder(fields, _csv(settings))

    def skips_errors(self, settings: Settings) -> bool:  # noqa: ARG002
        """A line that cannot be parsed fails the job."""
        return False


def _csv(settings: Settings) -> Settings:
    """The settings of `csv` that read such lines."""
    return Settings({DELIMITER.key: "|", NULL_LITERAL.key: settings[NULL_LITERAL]}, {})


PSV = PsvFormat()
