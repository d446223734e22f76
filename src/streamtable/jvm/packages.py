"""Java classes by attribute, `packages.codec.Columns`, each looked up once.

py4j's own `gateway.jvm` asks the JVM what each part of a name is, every time. A part that is a
package is no class, which the JVM knows only after a walk through all jars of its class path: that
took half of the CPU time of a job's start.
"""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass


class Packages:
    """A Java package; what begins with a capital letter is a class, the rest are packages.

    Args:
        name: of the package.
        client: py4j's, which classes are called through.
    """

    def __init__(self, name: str, client: Any) -> None:
        self._name = name
        self._client = client

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # Python asks every object for such names
            raise AttributeError(name)
        full = f"{self._name}.{name}"
        found = JavaClass(full, self._client) if name[0].isupper() else Packages(full, self._client)
        setattr(self, name, found)
        return found
