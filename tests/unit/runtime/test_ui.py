"""The server of the page, without Spark: tokens, headers, and rows read only for a client."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from streamtable.connector_api.tail import ChangeRow
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.secrets import hide
from streamtable.runtime.metrics.metrics import JobMetrics
from streamtable.runtime.metrics.prometheus import JobCollector, exposition
from streamtable.runtime.ui import live_rows
from streamtable.runtime.ui.graph import graph_of
from streamtable.runtime.ui.live_rows import KEPT, LiveRows
from streamtable.runtime.ui.server import Pages, serve_pages
from streamtable.session import Session

SCRIPT = """
CREATE TABLE t (k INT, g INT) WITH ('connector' = 'kafka', 'topic' = 't',
  'properties.bootstrap.servers' = 'b:9092', 'format' = 'json');
CREATE TABLE o (g INT, n BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'o', 'properties.bootstrap.servers' = 'b:9092',
  'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE p (k INT, n BIGINT) WITH ('connector' = 'print');
INSERT INTO o SELECT g, COUNT(*) FROM t WHERE k > 1 GROUP BY g;
INSERT INTO p SELECT t.k, 1 FROM t;
"""


def _pages(**more: Any) -> Pages:
    rows = {"last": 0, "rows": {}, "declined": {}}
    status = {"job": 'of "secret-4711"', "rows": [Decimal("4711"), 4711, ('p"ss4711',)]}
    metrics = JobMetrics()
    return Pages(
        **{
            "status": lambda: status,
            "rows": lambda after: {**rows, "last": after},
            "metrics": lambda: exposition(JobCollector(metrics, "j", {})),
            **more,
        }
    )


def _get(url: str, token: str | None = None, method: str = "GET") -> tuple[int, Any, str]:
    request = urllib.request.Request(url, method=method)  # noqa: S310 - our own
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def test_every_request_needs_the_token() -> None:
    for secret in ("secret-4711", "4711", 'p"ss4711'):
        hide(secret)
    pages = _pages()
    with serve_pages(pages, "127.0.0.1", 0) as url:
        base, token = url.split("/?token=")
        for path in ("/", "/api/status", "/api/rows", "/metrics", "/other"):
            for wrong in (None, "", "x", token[:-1], token + "x", "ü"):
                code, headers, text = _get(base + path, wrong and wrong.encode().decode("latin-1"))
                assert code == 401, (path, wrong)
                assert headers["WWW-Authenticate"] == "Bearer"
                assert text.startswith("the token is missing or wrong")
            assert _get(f"{base}{path}?token=x")[0] == 401
        status = json.loads(_get(f"{base}/api/status", token)[2])
        assert status == {"job": 'of "****"', "rows": ["****", 4711, ["****"]]}
        assert json.loads(_get(f"{base}/api/rows?after=7", token)[2])["last"] == 7
        assert json.loads(_get(f"{base}/api/rows?after=-x", token)[2])["last"] == 0
        assert _get(f"{base}/metrics?token={token}")[0] == 200
        assert _get(f"{base}/other", token)[0] == 404
        assert _get(f"{base}/../../etc/passwd", token)[0] == 404
        for method in ("POST", "PUT", "DELETE"):
            assert _get(f"{base}/", token, method)[0] == 501
    assert token not in repr(pages)


def test_the_page_loads_no_external_resources() -> None:
    with serve_pages(_pages(), "127.0.0.1", 0) as url:
        code, headers, first = _get(url)
        second = _get(url)[2]
    assert code == 200
    policy = headers["Content-Security-Policy"]
    nonce = policy.split("'nonce-")[1].split("'")[0]
    assert first.count(nonce) == 2
    assert nonce not in second
    assert policy.startswith("default-src 'none'; ")
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    for loads in ("src=", "href=", "@import", "url("):
        assert loads not in first.replace("url(#arrow)", "").replace('href="data:,"', "")


def test_two_jobs_have_different_tokens_and_ports() -> None:
    with serve_pages(_pages(), "127.0.0.1", 0) as url:
        port = int(url.split(":")[2].split("/")[0])
        with (
            pytest.raises(StreamtableError, match="use another --ui port") as taken,
            serve_pages(_pages(), "127.0.0.1", port),
        ):
            pass
        assert taken.value.condition is Condition.PORT_TAKEN
        with serve_pages(_pages(), "127.0.0.1", 0) as other:
            assert other.split("token=")[1] != url.split("token=")[1]


class Rows:
    """A tail with the numbers from 0 on; each poll returns `at_once` of them."""

    def __init__(self, at_once: int = 3) -> None:
        self.at_once, self.next, self.closed = at_once, 0, False

    def poll(self) -> Sequence[ChangeRow]:
        found = range(self.next, self.next + self.at_once)
        self.next += self.at_once
        return [ChangeRow("+I", {"n": n, "b": b"\1", "d": Decimal("1.50")}, 5) for n in found]

    def close(self) -> None:
        self.closed = True


def _until(holds: Any) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_rows_are_read_only_while_a_client_requests_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_rows, "_LOOK_S", 1.0)
    monkeypatch.setattr(live_rows, "_POLL_S", 0.05)
    opened: list[Rows] = []

    def open_rows() -> Rows:
        opened.append(Rows())
        return opened[-1]

    rows = LiveRows({"o": open_rows})
    time.sleep(0.2)
    assert not opened
    assert not rows.reads
    _until(lambda: rows.look(0)["last"] > 2 * KEPT)
    found = rows.look(0)
    assert len(found["rows"]["o"]) == KEPT
    newest = found["rows"]["o"][-1]
    assert newest["columns"] == {"n": str(newest["number"] - 1), "b": "01", "d": "1.50"}
    assert newest["kind"] == "+I"
    later = rows.look(found["last"])["rows"]["o"]
    assert all(row["number"] > found["last"] for row in later)
    _until(lambda: not rows.reads)
    assert [tail.closed for tail in opened] == [True]
    read = opened[0].next
    time.sleep(0.3)
    assert opened[0].next == read
    _until(lambda: rows.look(0)["rows"])
    assert len(opened) == 2
    rows.close()
    assert opened[1].closed
    rows.look(0)
    assert not rows.reads


def test_sinks_without_rows_are_reported_and_failed_reads_retried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_rows, "_RETRY_S", 0.1)
    monkeypatch.setattr(live_rows, "_POLL_S", 0.05)
    tries = {"p": 0, "o": 0}
    healed = threading.Event()

    def never() -> Rows:
        tries["p"] += 1
        raise StreamtableError(Condition.NOT_YET, what="live rows of p")

    def sometimes() -> Rows:
        tries["o"] += 1
        if healed.is_set():
            return Rows(1)
        raise StreamtableError(Condition.TOPIC_MISSING, topic="o", table="o", servers="b")

    rows = LiveRows({"p": never, "o": sometimes})
    try:
        _until(lambda: rows.look(0)["declined"].keys() == {"p", "o"} and tries["o"] > 2)
        assert rows.look(0)["declined"]["p"].startswith("NOT_YET: live rows of p")
        assert tries["p"] == 1
        healed.set()
        _until(lambda: "o" in rows.look(0)["rows"])
        assert rows.look(0)["declined"].keys() == {"p"}
    finally:
        rows.close()


def test_the_graph_joins_queries_at_their_tables() -> None:
    session = Session()
    session.load(SCRIPT, "job.sql")
    graph = graph_of({plan.table.name: plan for plan in session.plans})
    tables = [node for node in graph["nodes"] if node["kind"] == "table"]
    assert sorted(node["title"] for node in tables) == ["o", "p", "t"]
    from_t = [to for start, to in graph["edges"] if start == "table:t"]
    assert len(from_t) == 2
    stateful = [node for node in graph["nodes"] if node["state"] is not None]
    assert [(node["query"], node["state"]) for node in stateful] == [("o", 0)]
    ids = {node["id"] for node in graph["nodes"]}
    assert len(ids) == len(graph["nodes"])
    assert ids == {end for edge in graph["edges"] for end in edge}


def test_live_rows_of_a_write_only_sink_are_refused() -> None:
    session = Session()
    session.load(SCRIPT, "job.sql")
    from streamtable.connector_api.endpoints import sink_of

    with pytest.raises(StreamtableError, match="live rows of p, whose connector only writes"):
        sink_of(session.plans[1].table).tail(KEPT, None)  # type: ignore[arg-type]
