"""The docs are correct: their SQL parses, their links have targets, their tables are current."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.compat import page as compatibility

from streamtable.cli.reference import (
    FUNCTIONS_PAGE,
    INGESTION_PAGE,
    METRICS_PAGE,
    PAGE,
    functions_page,
    ingestion_page,
    metrics_page,
    options_page,
)
from streamtable.core.conditions import Condition
from streamtable.ingest.file.job_file import read_job
from streamtable.plan.functions import FUNCTIONS
from streamtable.plan.functions.time.differences import DIFFERENCES
from streamtable.session import Session
from streamtable.sql.parse import parse_script

_ROOT = Path(__file__).parents[2]
_PAGES = sorted([*_ROOT.glob("*.md"), *_ROOT.glob("docs/**/*.md")])
_SQL = re.compile(r"^```sql\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!\w+:|#)([^)#]+)")
_VARIABLE = re.compile(r"\$\{([\w.-]+)\}")


def _snippets() -> list[tuple[str, str]]:
    return [
        (f"{page.relative_to(_ROOT)}-{number}", text)
        for page in _PAGES
        for number, text in enumerate(_SQL.findall(page.read_text(encoding="utf-8")), start=1)
    ]


@pytest.mark.parametrize(("name", "text"), [pytest.param(*s, id=s[0]) for s in _snippets()])
def test_sql_examples_parse(name: str, text: str) -> None:
    variables = dict.fromkeys(_VARIABLE.findall(text), "localhost:9092")
    assert parse_script(text, name, variables)


def test_first_script_of_the_readme_is_planned() -> None:
    text = _SQL.findall((_ROOT / "README.md").read_text(encoding="utf-8"))[0]
    session = Session()
    session.load(text, "totals.sql", {"servers": "localhost:9092"})
    assert len(session.plans) == 1


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: str(page.relative_to(_ROOT)))
def test_links_lead_to_files(page: Path) -> None:
    targets = _LINK.findall(page.read_text(encoding="utf-8"))
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_page_of_job_files_is_up_to_date() -> None:
    written = (_ROOT / INGESTION_PAGE).read_text(encoding="utf-8")
    assert written == ingestion_page(), "run: python -m streamtable.cli.reference"


def test_job_file_examples_parse() -> None:
    pages = [p.read_text(encoding="utf-8") for p in _PAGES]
    files = [text for page in pages for text in _YAML.findall(page) if text.startswith("source:")]
    example = _ROOT / "examples" / "mysql" / "job.yaml"
    variables = {"servers": "b:9092", "port": "3306", "secret_values.mysql-password": "word"}
    for text in (*files, example.read_text(encoding="utf-8")):
        assert read_job(text, "job.yaml", variables).tables.text


def test_page_of_options_is_up_to_date() -> None:
    written = (_ROOT / PAGE).read_text(encoding="utf-8")
    assert written == options_page(), "run: python -m streamtable.cli.reference"


def test_page_of_functions_is_up_to_date() -> None:
    written = (_ROOT / FUNCTIONS_PAGE).read_text(encoding="utf-8")
    assert written == functions_page(), "run: python -m streamtable.cli.reference"


def test_page_of_metrics_is_up_to_date() -> None:
    written = (_ROOT / METRICS_PAGE).read_text(encoding="utf-8")
    assert written == metrics_page(), "run: python -m streamtable.cli.reference"


def test_differences_list_only_available_functions() -> None:
    assert [name for name in DIFFERENCES if not FUNCTIONS[name].available] == []


def test_page_of_compatibility_is_up_to_date() -> None:
    written = compatibility.PAGE.read_text(encoding="utf-8")
    assert written == compatibility.page(), "run: python -m tests.compat.page"


def test_conditions_of_the_runbook_exist() -> None:
    text = (_ROOT / "docs" / "operate" / "runbook.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([A-Z]+_[A-Z_]+)`", text))
    assert named
    assert named <= {condition.name for condition in Condition}
