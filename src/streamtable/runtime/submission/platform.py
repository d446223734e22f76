"""Settings of a job for a platform that starts Spark itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamtable.core.options import Settings
from streamtable.core.secrets import holds_secret
from streamtable.core.settings.job import JOB_NAME, PARALLELISM
from streamtable.jvm.submitted import AT_LAUNCH
from streamtable.runtime.session.configuration import (
    JARS,
    PARTITIONS,
    SHUFFLES_KEY,
    platform_java_options,
)
from streamtable.runtime.session.driver_address import BIND_ADDRESS, DRIVER_HOST, is_local

_MASTER = "spark.master"
_APP_NAME = "spark.app.name"

#: Settings of a job's own driver that a platform decides.
_OF_PLATFORM = ("spark.ui.enabled", "spark.ui.showConsoleProgress")


@dataclass(frozen=True)
class PlatformSettings:
    """Spark settings that a platform must have before a job starts.

    Attributes:
        launch: settings that a JVM reads when it starts: key -> value.
        session: settings that a job sets itself if it creates the Spark session, and that the
            platform must set if it creates the session.
        secrets: settings of both kinds with secret values, which are in neither.
    """

    launch: dict[str, str]
    session: dict[str, str]
    secrets: dict[str, str] = field(repr=False)


def platform_settings(
    found: Mapping[str, str], settings: Settings, master: str | None, jars: str | None
) -> PlatformSettings:
    """Return the settings of a job without those of this machine.

    Args:
        found: all settings of the job's session, as `start_settings` returns them.
        settings: the job's settings.
        master: the master for which they were made. If it is None, the platform chooses the master
            and the driver's address.
        jars: directory or URL of the jars on the platform; None keeps the paths of this machine.
    """
    omitted = {*_OF_PLATFORM}
    if is_local(master):
        omitted |= {_MASTER, DRIVER_HOST, BIND_ADDRESS, SHUFFLES_KEY}
    if not settings.has(PARALLELISM):
        omitted.add(PARTITIONS)  # the cores of this machine
    if settings.get(JOB_NAME) is None:
        omitted.add(_APP_NAME)
    omitted -= {f"spark.{key}" for key in settings.passthrough}
    kept = {**found, **platform_java_options(settings)}
    if jars is not None:
        names = (jar.rpartition("/")[2] for jar in kept[JARS].split(","))
        kept[JARS] = ",".join(f"{jars.rstrip('/')}/{name}" for name in names)
    kept = {key: value for key, value in sorted(kept.items()) if value and key not in omitted}
    secrets = {key: value for key, value in kept.items() if holds_secret(key, value)}
    shown = {key: value for key, value in kept.items() if key not in secrets}
    return PlatformSettings(
        {key: value for key, value in shown.items() if key in AT_LAUNCH},
        {key: value for key, value in shown.items() if key not in AT_LAUNCH},
        secrets,
    )
