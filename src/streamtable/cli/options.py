"""`streamtable options`: lists the options of WITH and SET, from their declarations."""

from __future__ import annotations

import click

from streamtable.connector_api.catalogs import CATALOG_TYPES
from streamtable.connector_api.connectors import CONNECTORS
from streamtable.core.errors import Condition, StreamtableError, closest
from streamtable.core.options import OptionSet
from streamtable.core.settings.declared import SETTINGS
from streamtable.core.shown_options import documented
from streamtable.formats.registry import FORMATS


def _known() -> dict[str, OptionSet]:
    return {
        **{name: factory.options for name, factory in CONNECTORS.items()},
        **{name: format_.options for name, format_ in FORMATS.items()},
        **{name: kind.options for name, kind in CATALOG_TYPES.items()},
        "settings": SETTINGS,
    }


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the options of the connector, format, catalog type or `settings` NAME.

    Without NAME, lists all names.
    """
    known = _known()
    if name is None:
        click.echo("\n".join(known))
        return
    if name not in known:
        raise StreamtableError(
            Condition.UNKNOWN_CONNECTOR,
            table="(none)",
            connector=name,
            hint=closest(name, known) or "known: " + ", ".join(known),
        )
    rows = [("option", "type", "default", "meaning"), *documented([known[name]])]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        cells = [text.ljust(width) for text, width in zip(row[:3], widths, strict=True)]
        click.echo("  ".join([*cells, row[3]]).rstrip())
