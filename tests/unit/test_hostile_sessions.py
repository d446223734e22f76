"""Mutated scripts over real tables: a session accepts them or raises one-line errors of ours."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from streamtable.core.errors import Faults, StreamtableError
from streamtable.session import Session
from streamtable.sql.lexer.lexer import Lexer

TESTS = Path(__file__).parents[1]
GOLDEN = TESTS / "golden"
TABLES = (GOLDEN / "tables.sql").read_text()
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)
#: Statements that are left out, because a mutated module name would be imported.
_IMPORTS = re.compile(r"\bFUNCTION\b", re.IGNORECASE)


def _statements() -> list[str]:
    files = [
        *sorted((GOLDEN / "plans").rglob("*.sql")),
        *sorted((GOLDEN / "refusals").glob("*.err")),
        TESTS / "compat" / "statements" / "cases.sql",
        TESTS / "unit" / "sql" / "queries.sql",
        TESTS / "unit" / "sql" / "statements.sql",
    ]
    text = ";".join(_COMMENT.sub(";", file.read_text()) for file in files) + ";" + TABLES
    return [part for part in text.split(";") if part.strip() and not _IMPORTS.search(part)]


STATEMENTS = _statements()
TOKENS = sorted({token.text for token in Lexer(TABLES, "f", None).tokens()})
#: Statements per session: enough that statements meet the objects of earlier statements.
_TOGETHER = 25


def _mutated(text: str, chance: random.Random) -> str:
    words = re.findall(r"\s+|\w+|'[^']*'|.", text, re.DOTALL)
    place = chance.randrange(len(words))
    match chance.randrange(6):
        case 0:
            del words[place]
        case 1:
            words[place] = chance.choice(words)
        case 2:
            words.insert(place, f" {chance.choice(TOKENS)} ")
        case 3:
            other = re.findall(r"\s+|\w+|'[^']*'|.", chance.choice(STATEMENTS), re.DOTALL)
            words[place:] = other[chance.randrange(len(other)) :]
        case 4:
            words.insert(place, chance.choice("'`;(),.*=<>-\n0é"))
        case _:
            words[place:place] = words[place : place + chance.randrange(1, 9)]
    return "".join(words)


def _only_errors_of_ours(seed: int, rounds: int) -> None:
    chance = random.Random(seed)
    session = Session()
    for number in range(rounds):
        if number % _TOGETHER == 0:
            session = Session()
            session.load(TABLES, "tables.sql")
        text = chance.choice(STATEMENTS)
        for _ in range(chance.randrange(3)):
            text = _mutated(text, chance) if text else text
        if _IMPORTS.search(text):
            continue
        try:
            session.load(text, "job.sql")
        except (StreamtableError, Faults) as error:
            for fault in error.faults if isinstance(error, Faults) else (error,):
                assert fault.at is not None, text
                assert "\n" not in str(fault), text
        except Exception as error:
            error.add_note(f"seed {seed}, round {number}: {text}")
            raise


@pytest.mark.parametrize("seed", range(4))
def test_mutated_scripts_raise_only_streamtable_errors(seed: int) -> None:
    _only_errors_of_ours(seed, 250)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_mutated_scripts_raise_only_streamtable_errors(seed: int) -> None:
    _only_errors_of_ours(seed, 5000)
