"""Split scripts: strings, backticks, comments, statement sets, variables and places."""

from __future__ import annotations

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.sql.lexer.script import Script
from streamtable.sql.parse import parse_script


def _cut(text: str, **variables: str) -> list[str]:
    """Return each statement as its tokens, separated by spaces."""
    return [
        " ".join(token.text for token in statement[:-1])
        for statement in Script(text, "job.sql", variables).statements()
    ]


CUTS = {
    "nothing": ("  \n -- only a comment; \n /* and ; another */", []),
    "two": ("a; b", ["a", "b"]),
    "last semicolon": ("a;\n", ["a"]),
    "empty statements": (";;a;;b;", ["a", "b"]),
    "in a string": ("a 'x;y''z' b; c", ["a x;y'z b", "c"]),
    "in backticks": ("a `x;``y` b; c", ["a x;`y b", "c"]),
    "in a line comment": ("a -- ; 'no string\n b; c", ["a b", "c"]),
    "in a comment": ("a /* ; ' ` \n -- */ b; c", ["a b", "c"]),
    "comment marks in a string": ("a '-- /*' b; c", ["a -- /* b", "c"]),
    "hints stay": ("a /*+ OPTIONS('k'='v;') */ b;", ["a /*+ OPTIONS ( k = v; ) */ b"]),
    "star before a comment": ("a */* x */ b", ["a * b"]),
    "a URL in SET": ("SET a = s3://b/; c = //d\n e", ["SET a = s3://b/", "c = e"]),
    "SET of a table": ("ALTER x SET y = //d\n e; z", ["ALTER x SET y = e", "z"]),
    "a set": ("EXECUTE STATEMENT SET BEGIN x; y; END; z", [
        "EXECUTE STATEMENT SET BEGIN x ; y ; END", "z",
    ]),
    "the older set": ("BEGIN STATEMENT SET; x; END; z", ["BEGIN STATEMENT SET ; x ; END", "z"]),
    "END of a CASE": ("EXECUTE STATEMENT SET BEGIN CASE x END; y; END; z", [
        "EXECUTE STATEMENT SET BEGIN CASE x END ; y ; END", "z",
    ]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CUTS.values(), ids=list(CUTS))
def test_cut(text: str, expected: list[str]) -> None:
    assert _cut(text) == expected


def test_tokens_have_the_place_of_their_start() -> None:
    text = "-- one\nSELECT\ta,\r\n  'x\ny' `b` /* c\n */ 1.5"
    (statement,) = Script(text, "job.sql").statements()

    assert [(token.text, str(token.at)) for token in statement] == [
        ("SELECT", "job.sql:2:1"),
        ("a", "job.sql:2:8"),
        (",", "job.sql:2:9"),
        ("x\ny", "job.sql:3:3"),
        ("b", "job.sql:4:4"),
        ("1.5", "job.sql:5:5"),
        ("", "job.sql:5:8"),
    ]


VARIABLES = {
    "a word": ("SELECT ${v}", "prod", "SELECT prod"),
    "part of a word": ("SELECT a_${v}_b", "prod", "SELECT a_prod_b"),
    "a qualified name": ("${v}.t", "db", "db . t"),
    "several tokens": ("x ${v} y", "a > 1", "x a > 1 y"),
    "in a string": ("'<${v}>'", "prod", "<prod>"),
    "a quote cannot end a string": ("'${v}' x", "a' OR 'b", "a' OR 'b x"),
    "two quotes stay two": ("'${v}' x", "a''b", "a''b x"),
    "a backtick cannot end a name": ("`${v}` x", "a`b", "a`b x"),
    "values are not read again": ("'${v}'", "${v}", "${v}"),
    "a setting": ("SET a = s3://${v}/;", "b c", "SET a = s3://b c/"),
    "the key of a setting": ("SET ${v}.c = d;", "a.b", "SET a . b . c = d"),
    "values of words are not read again": ("x ${v}", "a_${v} b", "x a_${v} b"),
    "spaces": ("${ v }", "prod", "prod"),
    "not in comments": ("x -- ${nothing}\n/* ${nothing} */", "", "x"),
}


@pytest.mark.parametrize(("text", "value", "expected"), VARIABLES.values(), ids=list(VARIABLES))
def test_variable(text: str, value: str, expected: str) -> None:
    assert _cut(text, v=value) == [expected]


def test_variables_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STAGE", "outer")

    assert _cut("${STAGE} ${env:STAGE}", STAGE="given") == ["given outer"]
    assert _cut("${STAGE}") == ["outer"]


def test_tokens_of_a_variable_have_its_place() -> None:
    (statement,) = Script("SELECT\n  ${v} x", "job.sql", {"v": "a > 1"}).statements()

    assert [str(token.at) for token in statement[1:5]] == ["job.sql:2:3"] * 3 + ["job.sql:2:8"]


FAULTS = {
    "SELECT ${nothing_here}": (
        "job.sql:1:8: UNKNOWN_VARIABLE: variable '${nothing_here}' has no value."
        " Hint: give it with --var or in the environment"
    ),
    "SELECT '${stagee}'": (
        "job.sql:1:8: UNKNOWN_VARIABLE: variable '${stagee}' has no value."
        " Hint: did you mean 'stage'?"
    ),
    "SELECT ${broken": "job.sql:1:8: SYNTAX: expected ${name}, found an incomplete variable",
    "SELECT ${half}": (
        "job.sql:1:8: SYNTAX: expected a single quote to end the text that begins here, found"
        " the end of the script. Hint: check the variable's value"
    ),
    "SELECT\n 'abc": (
        "job.sql:2:2: SYNTAX: expected a single quote to end the text that begins here,"
        " found the end of the script"
    ),
    "SELECT `abc,\n  `b` FROM `t`": (
        "job.sql:1:8: SYNTAX: expected a backtick to end the text that begins here,"
        " found the end of the line"
    ),
    "SELECT `abc": (
        "job.sql:1:8: SYNTAX: expected a backtick to end the text that begins here,"
        " found the end of the script"
    ),
    "SELECT /* abc": (
        "job.sql:1:8: SYNTAX: expected '*/' to end the comment that begins here,"
        " found the end of the script"
    ),
    "SELECT ``": "job.sql:1:8: SYNTAX: expected a name between the backticks, found nothing",
    'SELECT "a"': (
        "job.sql:1:8: SYNTAX: expected a name or a string, found a double quote. Hint: use"
        " backticks for names and single quotes for strings"
    ),
    "SELECT X'1'": (
        "job.sql:1:8: SYNTAX: expected pairs of hexadecimal digits in X'...',"
        " found other characters"
    ),
    "SELECT 'a'\n'b' 'c'": (
        "job.sql:2:5: SYNTAX: expected an operator or a comma, found a string."
        " Hint: write || between two strings to join them"
    ),
    "SELECT U&'x' UESCAPE '!!'": (
        "job.sql:1:22: SYNTAX: expected one character in quotes after UESCAPE, found another text."
        " Hint: it cannot be a hexadecimal digit, a blank, '+' or a double quote"
    ),
    "SELECT U&'x' UESCAPE 'a'": (
        "job.sql:1:22: SYNTAX: expected one character in quotes after UESCAPE, found another text."
        " Hint: it cannot be a hexadecimal digit, a blank, '+' or a double quote"
    ),
    "SELECT U&'x' UESCAPE 1": (
        "job.sql:1:22: SYNTAX: expected one character in quotes after UESCAPE, found another text."
        " Hint: it cannot be a hexadecimal digit, a blank, '+' or a double quote"
    ),
    "SELECT U&'x#12' UESCAPE '#'": (
        "job.sql:1:8: SYNTAX: expected #XXXX or #+XXXXXX in U&'...', found another escape"
    ),
    r"SELECT E'\u00e'": (
        r"job.sql:1:8: SYNTAX: expected \uXXXX or \UXXXXXXXX with hexadecimal digits in E'...',"
        " found another escape"
    ),
    r"SELECT E'\U00110000'": (
        r"job.sql:1:8: SYNTAX: expected \uXXXX or \UXXXXXXXX with hexadecimal digits in E'...',"
        " found another escape"
    ),
    r"SELECT E'\'": (
        "job.sql:1:8: SYNTAX: expected a single quote to end the text that begins here,"
        " found the end of the script"
    ),
    r"SELECT U&'\d800'": (
        r"job.sql:1:8: SYNTAX: expected \XXXX or \+XXXXXX in U&'...', found another escape"
    ),
}


@pytest.mark.parametrize(("text", "expected"), FAULTS.items())
def test_fault(text: str, expected: str) -> None:
    with pytest.raises(StreamtableError) as caught:
        parse_script(text, "job.sql", {"stage": "prod", "half": "'a"})
    assert str(caught.value) == expected
