"""The package's long description: README.md, with links that work outside of the checkout.

A package index shows the page on its own, so that a link to a file of the checkout leads nowhere.
Its words stay, the link goes; where pyproject.toml names a `Repository` under `[project.urls]`, the
link leads there instead.
"""

from __future__ import annotations

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

_RELATIVE = re.compile(r"\[([^\]]+)\]\((?!\w+:|#)([^)]+)\)")


def description(readme: str, repository: str | None) -> str:
    """The text of README.md with relative links made absolute, or plain where there is no URL."""
    base = None if repository is None else repository.rstrip("/") + "/blob/main/"
    return _RELATIVE.sub(rf"[\1]({base}\2)" if base else r"\1", readme)


class CustomMetadataHook(MetadataHookInterface):
    """Hatchling's hook; the name is the one it looks for."""

    def update(self, metadata: dict[str, object]) -> None:
        """Sets the long description."""
        urls = metadata.get("urls")
        repository = urls.get("Repository") if isinstance(urls, dict) else None
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": description(readme, repository),
        }
