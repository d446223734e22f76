"""Jars in a wheel, so that a job needs no compiler, no network and no cache.

`make wheel` puts the operators and Kafka's connector into the folder `bundled` of this package, and
the development broker into the package `streamtable_broker`. A checkout has neither: it compiles
and fetches the jars into the cache.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

_OWN = Path(__file__).parents[1] / "bundled"
_OPERATORS = "operators"


def bundled_operators(spark_minor: str, scala: str) -> Path | None:
    """Return the operators' jar for a Spark, or None if this installation does not contain it."""
    pattern = f"streamtable-operators_{spark_minor}_{scala}-*.jar"
    return next(iter(sorted((_OWN / _OPERATORS).glob(pattern))), None)


def bundled_folder(conf: str, digest: str) -> Path | None:
    """Return a folder of bundled jars, or None if no installed wheel has exactly this list.

    Args:
        conf: a configuration of `ivy.xml`: `spark` or `broker`.
        digest: the hash of the file with the versions.
    """
    companion = find_spec(f"streamtable_{conf}")
    homes = [_OWN, *map(Path, companion.submodule_search_locations or () if companion else ())]
    folders = (home / f"{conf}-{digest}" for home in homes)
    return next((folder for folder in folders if folder.is_dir()), None)
