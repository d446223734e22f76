"""Settings of a Spark session in a process that spark-submit has started."""

from __future__ import annotations

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.settings.spark import FIXED
from streamtable.jvm.submitted import AT_LAUNCH, submitted_settings
from streamtable.runtime.session.configuration import EXTENSIONS, JARS, start_settings

_APP_NAME = "spark.app.name"


def settings_after_submit(settings: Settings, master: str | None) -> dict[str, str]:
    """Return the settings of the session.

    The command line of spark-submit comes before our defaults, and the script before both. The
    settings that every job needs are always ours.

    Raises:
        StreamtableError: SPARK_UNUSABLE for another master than that of spark-submit;
            OPTION_NOT_SETTABLE for a setting of the script that was needed at the launch of
            the JVM; the errors of `start_settings`.
    """
    given = submitted_settings()
    at_work = given.get("spark.master", "local[*]")
    if master not in (None, at_work):
        raise StreamtableError(
            Condition.SPARK_UNUSABLE,
            reason=f"spark-submit has started it with master {at_work}, but {master} is requested",
            hint="give --master to spark-submit only",
        )
    own = {f"spark.{key}": value for key, value in settings.passthrough.items()}
    found = start_settings(settings, at_work)
    for key in AT_LAUNCH:
        if key in own and given.get(key) not in (own[key], found[key]):
            raise StreamtableError(
                Condition.OPTION_NOT_SETTABLE,
                at=settings.given[key].at,
                option=key,
                reason="spark-submit has started the driver, which reads it only at its launch",
                hint=f"add --conf {key}=... to the command line of spark-submit",
            )
    fixed = {key: setting.value for key, setting in FIXED.items()}
    merged = {**found, **given, **own, **fixed}
    if "pipeline.name" in settings.given:
        merged[_APP_NAME] = found[_APP_NAME]
    for key in (EXTENSIONS, JARS):
        merged[key] = _joined(given.get(key), found[key])
    return merged


def _joined(*lists: str | None) -> str:
    """Return the items of lists that are separated by commas; of equal file names, the first."""
    items = (item for found in lists if found for item in found.split(","))
    by_name: dict[str, str] = {}
    for item in items:
        by_name.setdefault(item.rpartition("/")[2], item)
    return ",".join(by_name.values())
