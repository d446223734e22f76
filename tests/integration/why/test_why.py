"""`streamtable why` over topics of a real broker: the records of a row, and missing keys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from tests.integration.why.support import Why

from streamtable.testing.topics import produce

if TYPE_CHECKING:
    from streamtable.devbroker.broker import Broker

pytestmark = pytest.mark.usefixtures("spark")


def _ids(records: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(r["table"], r["columns"].get("id", -1)) for r in records]


@pytest.fixture(scope="module")
def why(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Why:
    servers = broker.bootstrap_servers
    new = [NewTopic("why-sales", 2, 1), NewTopic("why-orders", 1, 1)]
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.create_topics([*new, NewTopic("why-customers", 1, 1)]).values():
        future.result()

    def sale(number: int, customer: str, amount: float) -> tuple[None, bytes]:
        value = {"id": number, "customer": customer, "amount": amount}
        return None, json.dumps(value).encode()

    ada = [sale(1, "Ada", 20), sale(2, "ada", 22.5), sale(3, "Ada", 5)]
    produce(servers, "why-sales", [*ada, sale(4, "Bob", 7), sale(5, "Bob", 8)], 0)
    produce(servers, "why-sales", [sale(6, "Ada", 30), sale(7, "Eve", 1), sale(8, "Eve", 90)], 1)

    def order(number: int, customer: str | None, amount: int = 0) -> tuple[bytes, bytes | None]:
        key = {"id": number}
        value = None if customer is None else {**key, "customer": customer, "amount": amount}
        return json.dumps(key).encode(), json.dumps(value).encode() if value else None

    produce(
        servers,
        "why-orders",
        [
            *(order(1, "Ada", 1), order(1, "Ada", 2), order(2, "Ada", 5), order(3, "Bob", 1)),
            *(order(3, None), order(4, "Cy", 1), order(4, "Dan", 1), order(5, "Fay", 1)),
            *(order(6, "Gus", 1), order(7, "Gus", 1), order(8, "Gus", 1), order(9, "Fay", 1)),
        ],
    )
    produce(
        servers,
        "why-customers",
        [
            (b'{"name":"Ada"}', b'{"name":"Ada","country":"UK"}'),
            (b'{"name":"Ada"}', b'{"name":"Ada","country":"FR"}'),
            (b'{"name":"Fay"}', b'{"name":"Fay","country":"NO"}'),
            (b'{"name":"Fay"}', None),
        ],
    )
    return Why(tmp_path_factory.mktemp("why") / "job.sql", servers)


def test_the_records_of_a_group_of_an_append_only_topic(why: Why) -> None:
    """The records of a computed key are found by its expression and listed newest first."""
    query = why.query("totals", {"customer": "ADA"})
    (row,) = query["rows"]
    assert row["row"] == {"customer": "ADA", "total": 72.5, "n": 3}
    assert sorted(_ids(row["records"])) == [("sales", 1), ("sales", 2), ("sales", 6)]
    assert [r["time"] for r in row["records"]] == sorted(
        (r["time"] for r in row["records"]), reverse=True
    )
    last = next(r for r in row["records"] if r["columns"]["id"] == 6)
    assert (last["partition"], last["offset"]) == (1, 0)
    assert last["columns"] == {"id": 6, "customer": "Ada", "amount": 30}
    assert (query["reason"], query["operators"], row["more"]) == (None, [], False)


def test_the_records_of_a_group_of_an_upsert_topic(why: Why) -> None:
    """Only the last version of each key counts."""
    lines = why.text("current_totals", {"customer": "Ada"})
    assert lines[0] == ('current_totals (customer = \'Ada\'): {"total":7.00,"n":2} from 2 records')
    assert [line.split("  ")[2:4] + line.split("  ")[5:] for line in lines[1:]] == [
        ["partition 0", "offset 2", '{"id":2,"customer":"Ada","amount":5}'],
        ["partition 0", "offset 1", '{"id":1,"customer":"Ada","amount":2}'],
    ]


def test_the_limit_keeps_the_newest_records(why: Why) -> None:
    lines = why.text("current_totals", {"customer": "Ada"}, "--limit", "1")
    assert lines[0].endswith("from more than 1 record")
    assert len(lines) == 2
    assert "offset 2" in lines[1]


def test_the_records_of_both_sides_of_a_join(why: Why) -> None:
    (row,) = why.query("placed", {"id": 1})["rows"]
    assert row["row"] == {"id": 1, "country": "FR"}
    assert sorted((r["table"], r["offset"]) for r in row["records"]) == [
        ("customers", 1),
        ("orders", 1),
    ]


def test_a_key_that_a_filter_drops(why: Why) -> None:
    lines = why.text("totals", {"customer": "BOB"})
    assert lines[:2] == [
        "totals (customer = 'BOB'): no row: filtered",
        "  Scan sales: 2 records",
    ]
    assert lines[2] == (
        "  Calc amount > 10 AND customer <> 'Eve': 2 rows in, 0 out: `amount > 10` is false for 2"
    )
    assert len(lines) == 5
    assert lines[3].startswith("    sales  partition 0  offset 4  ")
    # Each record names the parts of the condition that are not true for it.
    query = why.query("totals", {"customer": "EVE"})
    whys = {r["columns"]["id"]: r["why"] for r in query["operators"][-1]["records"]}
    assert whys == {
        7: "`amount > 10` is false; `customer <> 'Eve'` is false",
        8: "`customer <> 'Eve'` is false",
    }


def test_a_group_that_having_drops(why: Why) -> None:
    query = why.query("current_totals", {"customer": "Gus"})
    assert query["reason"] == "filtered"
    scan, group, having = query["operators"]
    assert (scan["in"], scan["out"]) == ([3], 3)
    assert (group["in"], group["out"]) == ([3], 1)
    assert (having["in"], having["out"]) == ([1], 0)
    assert sorted(_ids(having["records"])) == [("orders", 6), ("orders", 7), ("orders", 8)]


def test_a_key_that_was_never_read(why: Why) -> None:
    assert why.text("totals", {"customer": "ZED"}) == [
        "totals (customer = 'ZED'): no row: never read",
        "  Scan sales: 0 records: no record has upper(customer) = 'ZED'",
    ]


def test_deleted_and_changed_rows(why: Why) -> None:
    """The answer names the tombstone, or the newer version of the row with another value."""
    query = why.query("current_totals", {"customer": "Bob"})
    assert query["reason"] == "deleted"
    (scan,) = query["operators"]
    assert (scan["in"], scan["out"]) == ([1], 0)
    (record,) = scan["records"]
    assert (record["offset"], record["kind"], record["columns"]) == (4, "-D", {"id": 3})

    query = why.query("current_totals", {"customer": "Cy"})
    assert query["reason"] == "changed"
    (record,) = query["operators"][0]["records"]
    assert record["offset"] == 6
    assert record["columns"]["customer"] == "Dan"


def test_a_key_without_a_match(why: Why) -> None:
    """The other side of the join is searched for the join keys of the row."""
    query = why.query("placed", {"id": 4})
    assert query["reason"] == "unmatched"
    orders, customers, join = query["operators"]
    assert (orders["operator"], orders["out"]) == ("Scan orders", 1)
    assert customers["reason"] == "never read"
    assert customers["notes"] == ["no record has name = 'Dan'"]
    assert (join["in"], join["out"]) == ([1, 0], 0)
    assert _ids(join["records"]) == [("orders", 4)]

    query = why.query("placed", {"id": 5})
    orders, customers, join = query["operators"]
    assert (query["reason"], customers["reason"]) == ("unmatched", "deleted")
    assert customers["records"][0]["columns"] == {"name": "Fay"}


def test_a_key_that_is_ranked_out(why: Why) -> None:
    query = why.query("largest", {"customer": "Ada", "id": 3})
    assert query["reason"] == "ranked out"
    top = query["operators"][-1]
    assert top["notes"] == ["the rows of the key have rank 3, and the ranks 1 to 2 are kept"]
    assert [r["why"] for r in top["records"]] == ["rank 3"]
    (row,) = why.query("largest", {"customer": "Ada", "id": 6})["rows"]
    assert _ids(row["records"]) == [("sales", 6)]


def test_a_key_with_a_rank(why: Why) -> None:
    """The rank is a computed column, so only the customer limits the rows below the ranking."""
    (row,) = why.query("ranked", {"customer": "Eve", "n": 2})["rows"]
    assert _ids(row["records"]) == [("sales", 7)]
    query = why.query("ranked", {"customer": "Eve", "n": 3})
    assert query["reason"] == "other value"
    top = query["operators"][-1]
    assert (top["in"], top["out"]) == ([2], 0)
    assert top["notes"] == [
        "row_number = 3 in no row; the values are 1, 2",
        "the rows below are not limited to the key: n is computed here",
    ]


@pytest.mark.parametrize(
    ("table", "key", "message"),
    [
        ("totals", "{", "INVALID_OPTION: option '--key' has the value '{', which is not JSON"),
        ("totals", "[1]", "which is not a JSON object with the key (customer) of totals"),
        ("totals", '{"customer": "A", "n": 1}', "'n' is no key column"),
        ("largest", '{"customer": "A"}', "the key (customer, id) of largest: 'id' is missing"),
        ("largest", '{"customer": "A", "id": "x"}', "'id' is INT"),
        ("log", '{"customer": "A"}', "PRIMARY_KEY_REQUIRED: table log needs a PRIMARY KEY"),
        ("sales", '{"id": 1}', "which is not a table that the script writes (totals, "),
    ],
)
def test_refusals(why: Why, table: str, key: str, message: str) -> None:
    result = why.run(table, key)
    assert result.exit_code == 1
    assert message in result.stderr
