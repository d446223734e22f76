"""Puts what `make wheel` has compiled and fetched into the wheel; does nothing elsewhere.

`STREAMTABLE_BUNDLE` names the folder, whose files keep their places below the hook's `into`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BundleHook(BuildHookInterface):  # type: ignore[type-arg] # hatchling's own example
    """Hatchling's hook; it takes the one class of the file."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Names the files and where they go."""
        given = os.environ.get("STREAMTABLE_BUNDLE")
        if not given or version != "standard":
            return
        bundle = Path(given)
        for file in sorted(path for path in bundle.rglob("*") if path.is_file()):
            place = f"{self.config['into']}/{file.relative_to(bundle).as_posix()}"
            build_data["force_include"][str(file)] = place
