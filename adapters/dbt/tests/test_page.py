"""The files of docs/how-to/dbt.md are a project that dbt accepts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from support import new_project

if TYPE_CHECKING:
    from streamtable.devbroker.broker import Broker

_PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "dbt.md"
_BLOCK = re.compile(r"^```(yaml|jinja)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_project_of_the_page_is_accepted(broker: Broker, tmp_path: Path) -> None:
    blocks = _BLOCK.findall(_PAGE.read_text(encoding="utf-8"))
    (profile, sources), (view, table) = (
        [text for kind, text in blocks if kind == wanted] for wanted in ("yaml", "jinja")
    )
    assert "127.0.0.1:9092" in profile
    profile = profile.replace("127.0.0.1:9092", broker.bootstrap_servers)
    project = new_project(tmp_path, broker)
    project.write(
        profiles_yml=profile.replace("{{ env_var('KAFKA_LOGIN') }}", "a-login"),
        models__sources_yml=sources,
        models__known_orders_sql=view,
        models__totals_sql=table,
    )
    code, output = project.dbt("debug")
    assert code == 0, output
    assert "'sasl.jaas.config': '****'" in output
    code, output = project.dbt("run", "--select", "known_orders")
    assert code == 0, output
    assert project.results()["known_orders"] == ("success", "CREATE VIEW")
    code, output = project.dbt("run", "--select", "known_orders", "--empty")
    assert code == 1, output
    assert "does not support --empty" in project.results()["known_orders"][1]
    # The refusal comes after the checks of the config; nothing is started.
    code, output = project.dbt("run", "--select", "totals", "--full-refresh")
    assert code == 1, output
    assert "--full-refresh of a streaming_table" in project.results()["totals"][1]
