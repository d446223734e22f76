"""The docs site, built as `make site` builds it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PAGES = sorted((_ROOT / "docs").rglob("*.md"))
#: URLs that a browser loads with a page.
_LOADED = re.compile(r"""<(?:script|img|link)[^>]+(?:src|href)=["']?(https?://[^"'> ]+)""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(build, cwd=_ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_built_and_listed(site: Path) -> None:
    listed = (site / "llms.txt").read_text(encoding="utf-8")
    for page in _PAGES:
        path = page.relative_to(_ROOT / "docs")
        folder = path.parent if path.name == "index.md" else path.with_suffix("")
        assert (site / folder / "index.html").exists()
        assert f"]({path})" in listed
        assert (site / path).read_bytes() == page.read_bytes()


def test_a_page_loads_nothing_from_other_hosts(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert _LOADED.findall(page.read_text(encoding="utf-8")) == []


def test_a_page_missing_in_the_nav_is_refused(tmp_path: Path) -> None:
    for name in ("mkdocs.yml", "docs", "tools"):
        (tmp_path / name).symlink_to(_ROOT / name)
    (tmp_path / "docs").unlink()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Index\n")
    (tmp_path / "docs" / "lost.md").write_text("# Lost\n")
    config = (_ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("nav:")[0]
    (tmp_path / "mkdocs.yml").unlink()
    (tmp_path / "mkdocs.yml").write_text(f"{config}nav: [index.md]\n")
    build = [sys.executable, "-m", "mkdocs", "build", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(build, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert "nav lacks lost.md" in done.stderr
