"""The excerpt of a script under an error. It must never show a secret."""

from __future__ import annotations

import pytest

from streamtable.core.errors import Span
from streamtable.sql.lexer.excerpt import excerpt

HIDDEN = "s3cr3t-value"


def shown(text: str, line: int, column: int) -> str | None:
    return excerpt(text, Span("job.sql", line, column))


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("SELECT a FROM t", 1, 8, "    1 | SELECT a FROM t\n      |        ^"),
        ("a\n\tb c\n", 2, 4, "    2 |  b c\n      |    ^"),
        ("a", 1, 2, "    1 | a\n      |  ^"),
        ("a\n", 2, 1, "    2 |\n      | ^"),
        ("a\r\nb\r\n", 2, 1, "    2 | b\n      | ^"),
    ],
    ids=["one line", "tab", "end of the text", "empty last line", "carriage returns"],
)
def test_line_and_caret(text: str, line: int, column: int, expected: str) -> None:
    assert shown(text, line, column) == expected


def test_a_place_outside_the_text_has_no_excerpt() -> None:
    assert shown("a", 7, 1) is None


def test_a_long_line_is_cut_around_the_place() -> None:
    text = "x" * 500 + "Y" + "z" * 500
    line, caret = str(shown(text, 1, 501)).split("\n")
    assert len(line) <= 130
    assert line[caret.index("^")] == "Y"


@pytest.mark.parametrize(
    ("text", "line", "place"),
    [
        (f"WITH ('a.password' = '{HIDDEN}', 'b' = 'c')", 1, "'b'"),
        (f"WITH ('b' = 'c', 'ssl.key.PASSWORD'='{HIDDEN}')", 1, "'b'"),
        (f"'x' = 'y', 'sasl.jaas.config' = 'module\n  password={HIDDEN} more' oops", 2, "oops"),
        (f"'token' = '{HIDDEN}', 'secret' = '{HIDDEN}' oops", 1, "oops"),
        (f"'a.password' = '{HIDDEN}''{HIDDEN}' oops", 1, "oops"),
    ],
)
def test_values_of_secrets_are_masked(text: str, line: int, place: str) -> None:
    column = text.split("\n")[line - 1].index(place) + 1
    found = str(shown(text, line, column))
    assert HIDDEN not in found
    assert "****" in found
    said, caret = found.split("\n")
    assert said[caret.index("^") :].startswith(place)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"SET a.password = {HIDDEN}; SELEC", 1),
        (f"WITH ('connector' = 'kafka, 'a.password' = '{HIDDEN}')", 1),
        (f"WITH ('a.password' = '{HIDDEN}", 1),
        (f"CREATE FUNCTION f (password => '{HIDDEN}')", 1),
        (f"source:\n  password: {HIDDEN}", 2),
    ],
    ids=["unquoted", "quotes turned inside out", "no end", "no option", "YAML"],
)
def test_no_excerpt_if_secrets_cannot_be_recognized(text: str, line: int) -> None:
    assert shown(text, line, 1) is None


def test_a_column_named_like_a_secret_is_shown() -> None:
    assert shown("SELECT token FROM t", 1, 8) is not None


@pytest.mark.parametrize(
    "text",
    ["source:\n  password: ${pw}\noops: ${x}", "'token' = '${a}'\nSELECT a_${v} ${ w }\noops"],
    ids=["YAML", "SQL"],
)
def test_unquoted_variables_do_not_hide_the_excerpt(text: str) -> None:
    assert "oops" in str(shown(text, 3, 1))
