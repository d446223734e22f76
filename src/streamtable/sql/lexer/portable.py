"""A script as text for another machine: variables resolved, without secrets and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from streamtable.core.secrets import is_secret, without_secrets
from streamtable.sql.lexer.lexer import Lexer
from streamtable.sql.lexer.script import NO_FILE
from streamtable.sql.lexer.tokens import Kind, Token

_STORED = re.compile(r"\$\{\s*(?:file:|secret_values\.)")
#: A comment between the parts of U&'...'; the end of another text may look like it.
_COMMENTED = re.compile(r"'\s*(?:--|//|/\*)")
_QUOTES = {Kind.STRING: "'", Kind.BARE: "'", Kind.QUOTED: "`"}


@dataclass(frozen=True)
class PortableScript:
    """A script without secrets.

    Attributes:
        text: the script. A variable replaces each secret value.
        secrets: for each of these variables, the option that has the value.
    """

    text: str
    secrets: Mapping[str, str]


def portable(text: str, variables: Mapping[str, str], file: str = NO_FILE) -> PortableScript:
    """Return a script that needs no variables but those of its secrets.

    Values of secret options, and values that come from a file or from `secret_values`, become the
    variables `secret_1`, `secret_2` and so on. Comments are left out, because they may have secrets
    that nothing marks.

    Args:
        text: the script as written; it has been loaded, so that its secrets are known.
        variables: values of `${name}`; the environment supplies the rest.
        file: name of the file.

    Raises:
        StreamtableError: UNKNOWN_VARIABLE, FILE_UNREADABLE or SYNTAX.
    """
    lexer = Lexer(text, file, variables)
    pieces: list[str] = []
    secrets: dict[str, str] = {}
    last = 0
    for token, option in _with_options(list(lexer.tokens())):
        if token.start < last:
            continue  # a variable outside of quotes gives several tokens of one place
        between, written = text[last : token.start], text[token.start : token.end]
        pieces.append(_without_comments(between))
        quote = _QUOTES.get(token.kind)
        hidden = without_secrets(token.text) != token.text or _STORED.search(written)
        if quote == "'" and (hidden or is_secret(option)):
            name = f"secret_{len(secrets) + 1}"
            secrets[name] = option
            pieces.append(f"'${{{name}}}'")
        elif "${" not in written and not _COMMENTED.search(written):
            pieces.append(written)
        elif quote:
            pieces.append(quote + token.text.replace(quote, quote * 2) + quote)
        else:
            pieces.append(lexer.expand(written, token.at))
        last = token.end
    return PortableScript(without_secrets("".join(pieces)), secrets)


def _with_options(tokens: list[Token]) -> Iterator[tuple[Token, str]]:
    """Yield each token with the option that it is the value of, in `'option' = 'value'`."""
    for place, token in enumerate(tokens):
        option = ""
        if place >= 2 and tokens[place - 1].key == "=" and tokens[place - 2].kind is Kind.STRING:
            option = tokens[place - 2].text
        yield token, option


def _without_comments(between: str) -> str:
    """Return the blank text between two tokens; only the line breaks of a comment stay."""
    if not between or between.isspace():
        return between
    return "\n" * between.count("\n") or " "
