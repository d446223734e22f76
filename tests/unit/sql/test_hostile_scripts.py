"""Mutated scripts: each is parsed, or raises one `StreamtableError` with a place."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.sql.lexer.lexer import Lexer
from streamtable.sql.parse import parse_script

HERE = Path(__file__).parent
SCRIPT = (HERE / "queries.sql").read_text() + (HERE / "statements.sql").read_text()
STATEMENTS = [text for text in SCRIPT.split(";") if text.strip()]
TOKENS = sorted({token.text for token in Lexer(SCRIPT, "f", None).tokens()})
SIGNS = "'`;()[]{}$.,*/+-<>=\"\\\n\0é"
ROUNDS = 400


def _mutated(text: str, chance: random.Random) -> str:
    start = chance.randint(0, len(text))
    end = min(len(text), start + chance.randint(0, 12))
    before, part, behind = text[:start], text[start:end], text[end:]
    match chance.randrange(6):
        case 0:
            return before + behind
        case 1:
            return f"{before} {chance.choice(TOKENS)} {part}{behind}"
        case 2:
            return before + chance.choice(SIGNS) + part + behind
        case 3:
            return before + part * chance.randint(2, 80) + behind
        case 4:
            return before + chance.choice(STATEMENTS)[start:]
        case _:
            return before + "(" * chance.randint(1, 200) + part + behind


@pytest.mark.parametrize("seed", range(10))
def test_mutated_scripts_raise_only_streamtable_errors(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(ROUNDS):
        text = chance.choice(STATEMENTS)
        for _ in range(chance.randint(1, 3)):
            text = _mutated(text, chance)
        try:
            parse_script(text, "job.sql")
        except StreamtableError as fault:
            assert fault.at is not None, text
            assert "\n" not in str(fault), text
