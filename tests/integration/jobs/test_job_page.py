"""`run --ui`: the page of a real job in a real browser, its row readers, and hidden secrets."""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browser import Browser
from tests.integration.jobs.support import PATIENCE_S, Cli, write
from tests.integration.jobs.test_metrics import SCRIPT

from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker

#: A second query, whose sink cannot be read, and its source table with a secret.
MORE = """
CREATE TABLE p (g INT, n BIGINT) WITH ('connector' = 'print');
INSERT INTO p SELECT g, k FROM t2;
"""
SECOND = """
CREATE TABLE t2 (k INT, g INT) WITH (
  'connector' = 'kafka', 'topic' = '${source}-2',
  'properties.bootstrap.servers' = '${servers}', 'scan.startup.mode' = 'earliest-offset',
  'properties.ssl.key.password' = 'pass-4711', 'format' = 'json'
);
"""


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    folder = tmp_path / "browser"
    folder.mkdir()
    with Browser(folder) as opened:
        yield opened


def _changes(keys: range, group: int) -> list[tuple[bytes | None, bytes | None]]:
    return [(b'{"k":%d}' % k, b'{"k":%d,"g":%d}' % (k, group)) for k in keys]


def _page_of(job: Cli) -> str:
    assert job.process.stderr is not None
    return next(
        line for line in job.process.stderr if line.startswith("page of the job at ")
    ).split()[-1]


def _api(url: str, path: str) -> dict[str, Any]:
    base, token = url.split("/?token=")
    with urllib.request.urlopen(f"{base}{path}?token={token}", timeout=60) as answer:  # noqa: S310
        return dict(json.load(answer))


def _until(holds: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.3)


def test_the_page_of_a_job(broker: Broker, topic: Topics, tmp_path: Path, browser: Browser) -> None:
    source = topic("changes", partitions=2)
    second = f"{source}-2"
    servers = broker.bootstrap_servers
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic(second, 1)])[second].result()
    produce(servers, source, _changes(range(20), 1))
    job = Cli.start(
        *("run", write(tmp_path / "job.sql", SCRIPT + SECOND + MORE), "--ui"),
        *("--var", f"source={source}", "--var", f"servers={servers}"),
        *("--mode", "micro-batch", "--set", "pipeline.name=page views"),
    )
    url = _page_of(job)
    base = url.split("/?")[0]
    assert base.startswith("http://127.0.0.1:")
    for refused in (base, f"{base}/?token=wrong", f"{base}/api/status", f"{base}/api/rows?token=x"):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(refused, timeout=60)  # noqa: S310 - our own
    browser.open(f"{base}/?token=wrong")
    assert browser.text().startswith("the token is missing or wrong")

    browser.open(url)
    browser.until(lambda: browser.text("#state") == "running", PATIENCE_S)
    assert browser.text("#name") == "page views"
    assert browser.run("return document.title") == "page views"
    nodes = browser.run("return [...document.querySelectorAll('#graph [data-node]')].length")
    edges = browser.run("return document.querySelectorAll('#graph svg > path').length")
    assert nodes >= 6
    assert edges >= nodes - 2
    node = "return document.querySelector('[data-node=\"table:{}\"]').textContent"
    browser.until(lambda: "total 20" in browser.run(node.format("t")), PATIENCE_S)
    browser.until(lambda: "lag 0" in browser.run(node.format("t")), PATIENCE_S)
    assert "/s, total " in browser.run(node.format("t"))
    drawn = browser.run("return document.querySelector('#graph').textContent")
    assert "state " in drawn
    assert "ms in the last batch" in drawn
    assert "micro-batch" in browser.text("#queries")
    assert re.search(r"batch \d+ at 20", browser.text("#queries"))

    rows = "return (document.querySelector('[data-table=o]') || document.body).innerText"
    browser.until(lambda: "+U\t" in browser.run(rows) and "\t20" in browser.run(rows), PATIENCE_S)
    assert "live rows of p, whose connector only writes" in browser.text("#rows")
    # All rows of one group move to another group: a delete and an upsert.
    produce(servers, source, _changes(range(20), 5))
    browser.until(lambda: "-D\t" in browser.run(rows) and "5\t20" in browser.run(rows), PATIENCE_S)
    browser.until(lambda: "total 40" in browser.run(node.format("t")), PATIENCE_S)

    text = browser.run("return document.documentElement.outerHTML") + json.dumps(
        _api(url, "/api/status")
    )
    assert "pass-4711" not in text
    assert [
        line for line in browser.complaints() if "token=wrong" not in line and "favicon" not in line
    ] == []
    # No page is open any more, so the job closes its readers.
    browser.open("about:blank")
    _until(lambda: _api(url, "/api/status")["readsRows"] is False)

    job.terminate()
    code, _, err = job.end()
    assert code == 0, err
    assert url.split("token=")[1] not in err


@pytest.mark.soak
@pytest.mark.real_time_state
def test_the_page_in_real_time_mode_until_the_job_fails(
    broker: Broker, topic: Topics, tmp_path: Path, browser: Browser
) -> None:
    source = topic("changes", partitions=1)
    script = SCRIPT.replace("'true'", "'false'")
    job = Cli.start(
        *("run", write(tmp_path / "job.sql", script), "--ui", "0", "--mode", "real-time"),
        *("--var", f"source={source}", "--var", f"servers={broker.bootstrap_servers}"),
        *("--set", "execution.checkpointing.interval=5 s", "--set", "parallelism.default=1"),
    )
    url = _page_of(job)
    browser.open(url)
    browser.until(lambda: browser.text("#state") == "running", PATIENCE_S)
    rows = "return (document.querySelector('[data-table=o]') || document.body).innerText"
    produce(broker.bootstrap_servers, source, _changes(range(7), 3))
    browser.until(lambda: "3\t7" in browser.run(rows), PATIENCE_S)
    browser.until(lambda: "real-time" in browser.text("#queries"), PATIENCE_S)
    produce(broker.bootstrap_servers, source, [(b'{"k":1}', b"{")])
    assert job.end()[0] == 1
    browser.until(lambda: browser.text("#state").startswith("no answer"))
