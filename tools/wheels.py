"""`make wheel`: build the wheels and the source distribution of a release, reproducibly.

`streamtable` contains the operators, compiled for each minor version of Spark, and Kafka's
connector. `streamtable_broker` contains the development broker. Both contain the licences of their
jars. The same sources, JDK and Python give the same bytes: `javac` writes no dates, and entries are
sorted and have the same date. `SHA256SUMS` contains the digests.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from streamtable import __version__
from streamtable.core.errors import InternalError, StreamtableError
from streamtable.devbroker.jars import broker_jars
from streamtable.jvm.install.compile import compiled_operators
from streamtable.jvm.install.installed_spark import SPARK_MINORS
from streamtable.jvm.install.jars import connector_jars
from tools.jar_licences import ROOT, LicenceMissingError, copy_licences
from tools.spark_minors import compiled_for

#: Read by `hatch/bundle.py`: the folder of further files for a wheel.
_BUNDLE = "STREAMTABLE_BUNDLE"


class WrongTagError(Exception):
    """The commit's tag has a different version than the package."""


def build(into: Path) -> list[Path]:
    """Build everything into a folder; the output of an earlier build is replaced.

    Raises:
        StreamtableError: JAVA_MISSING, SPARK_MISSING, SPARK_VERSION or RESOURCE_UNAVAILABLE.
        InternalError: the operators do not compile.
        LicenceMissingError: a jar has no licence.
        WrongTagError: HEAD has a tag of another version.
        subprocess.CalledProcessError: hatchling failed and has printed the reason.
    """
    _check_tag()
    os.environ.pop("STREAMTABLE_IVY_FILE", None)  # a release uses the pinned versions
    into.mkdir(parents=True, exist_ok=True)
    for old in [*into.glob("streamtable*.whl"), *into.glob("streamtable-*.tar.gz")]:
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="streamtable-wheel-") as scratch:
        own, broker = Path(scratch, "own"), Path(scratch, "broker")
        operators = own / "operators"
        for minor in SPARK_MINORS:
            compiled_operators(operators, compiled_for(minor))
        (operators / "lock").unlink()
        _stage(connector_jars(), own)
        _stage(broker_jars(), broker)
        _hatchling(ROOT, "wheel", into, own)
        _hatchling(ROOT / "packages" / "broker", "wheel", into, broker)
        _hatchling(ROOT, "sdist", into, None)
    built = sorted([*into.glob("streamtable*.whl"), *into.glob("streamtable-*.tar.gz")])
    sums = (f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in built)
    (into / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
    return built


def _check_tag() -> None:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return
    command: list[str | Path] = [git, "-C", ROOT, "tag", "--points-at", "HEAD", "--list", "v*"]
    tags = subprocess.run(command, check=False, text=True, capture_output=True).stdout.split()  # noqa: S603 - git
    if tags and f"v{__version__}" not in tags:
        message = (
            f"the tag {tags[0]} is not of version {__version__}: set __version__ in"
            " src/streamtable/__init__.py, or move the tag"
        )
        raise WrongTagError(message)


def _stage(jars: list[Path], into: Path) -> None:
    """Copy the jars and their licences into a folder with the name of their list."""
    folder = into / jars[0].parent.name
    folder.mkdir(parents=True)
    for jar in jars:
        shutil.copyfile(jar, folder / jar.name)
    copy_licences(jars, into / "licences")


def _hatchling(project: Path, target: str, into: Path, bundle: Path | None) -> None:
    environment = {name: value for name, value in os.environ.items() if name != _BUNDLE}
    environment.pop("PYTHONPATH", None)
    if bundle is not None:
        environment[_BUNDLE] = str(bundle)
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d"]
    subprocess.run(  # noqa: S603 - our own
        [*command, str(into.absolute())],
        check=True,
        cwd=project,
        env=environment,
        stdout=subprocess.DEVNULL,
    )


def _main() -> int:
    parser = argparse.ArgumentParser(prog="tools.wheels", description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "dist", metavar="DIR")
    try:
        built = build(parser.parse_args().into)
    except (StreamtableError, InternalError, LicenceMissingError, WrongTagError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except subprocess.CalledProcessError:
        return 1
    for file in built:
        sys.stdout.write(f"{file} ({file.stat().st_size / 1e6:.1f} MB)\n")
    return 0


if __name__ == "__main__":
    sys.exit(_main())
