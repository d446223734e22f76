"""Java classes by attribute, such as `packages.codec.Codecs`; each is looked up once.

py4j's own `gateway.jvm` asks the JVM about each part of a name, every time. The JVM finds out that
a package is not a class only after it has searched all jars of its class path. This took half of
the CPU time of a job's start.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass


class Packages:
    """A Java package; names with a capital first letter are classes, the others are packages.

    Args:
        name: the name of the package.
        client: py4j's client for calling classes.
    """

    def __init__(self, name: str, client: Any) -> None:
        self._name = name
        self._client = client

    @property
    def client(self) -> Any:
        """py4j's client."""
        return self._client

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # Python reads such names of every object
            raise AttributeError(name)
        full = f"{self._name}.{name}"
        found = JavaClass(full, self._client) if name[0].isupper() else Packages(full, self._client)
        setattr(self, name, found)
        return found
