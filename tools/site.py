"""Hooks of the docs site: links that leave `docs`, the decisions' pages, and `llms.txt`.

mkdocs calls the functions by their names; `mkdocs.yml` lists this file.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

#: A Markdown link to a file: its words, its target without the anchor.
_LINK = re.compile(r"\[([^\]]+)\]\((?!\w+:|#)([^)#]+)(#[^)]*)?\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Keep the words of links to files outside of `docs`, which the site does not have."""
    folder = PurePosixPath(page.file.src_uri).parent

    def inside(link: re.Match[str]) -> str:
        return link[1] if _leaves(folder, link[2]) else link[0]

    return _LINK.sub(inside, markdown)


def on_nav(nav: Any, *, config: Any, files: Any) -> Any:
    """Refuse a page that the navigation does not list; decisions are linked from others."""
    listed = {page.file.src_uri for page in nav.pages}
    there = {file.src_uri for file in files.documentation_pages()}
    missing = sorted(page for page in there - listed if not page.startswith("decisions/"))
    if missing:
        message = f"{config.config_file_path}: nav lacks {', '.join(missing)}"
        raise ValueError(message)
    return nav


def on_post_build(*, config: Any) -> None:
    """Write `llms.txt`: the pages with their titles, and all of their text in `llms-full.txt`."""
    docs, site = Path(config.docs_dir), Path(config.site_dir)
    pages = sorted(docs.rglob("*.md"))
    titles = [(page.relative_to(docs).as_posix(), _title(page)) for page in pages]
    index = "".join(f"- [{title}]({path})\n" for path, title in titles)
    head = f"# {config.site_name}\n\n> {config.site_description}\n\n"
    (site / "llms.txt").write_text(f"{head}{index}", encoding="utf-8")
    texts = (page.read_text(encoding="utf-8") for page in pages)
    (site / "llms-full.txt").write_text("\n\n".join(texts), encoding="utf-8")
    for page in pages:
        copy = site / page.relative_to(docs)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(page.read_bytes())


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def _leaves(folder: PurePosixPath, target: str) -> bool:
    depth = len(folder.parts)
    for part in PurePosixPath(target).parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            return True
    return False
