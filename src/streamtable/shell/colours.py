"""Colours of Flink SQL in the terminal."""

from __future__ import annotations

import re

from prompt_toolkit.styles import Style
from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from streamtable.shell.words import KEYWORDS, TYPES


class FlinkSqlLexer(RegexLexer):
    """Tokens of Flink SQL for a highlighter; an unfinished text has tokens too."""

    name = "Flink SQL"
    flags = re.IGNORECASE | re.MULTILINE
    tokens = {  # noqa: RUF012 - pygments' way to declare them
        "root": [
            (r"\s+", Text),
            (r"^\\\S*", Name.Function),
            (r"--.*?$", Comment.Single),
            (r"/\*(?!\+)(.|\n)*?(\*/|\Z)", Comment.Multiline),
            (r"E'(''|\\.|[^'\\])*('|\Z)", String.Single),
            (r"'(''|[^'])*('|\Z)", String.Single),
            (r"`(``|[^`])*(`|\Z)", Name.Variable),
            (words(sorted(TYPES), prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (words(sorted(KEYWORDS), prefix=r"\b", suffix=r"\b"), Keyword),
            (r"\w+(?=\s*\()", Name.Function),
            (r"\d+(\.\d*)?([eE][+-]?\d+)?", Number),
            (r"\w+", Name),
            (r"[(),;.]", Punctuation),
            (r".", Operator),
        ]
    }


STYLE = Style.from_dict(
    {
        "pygments.keyword": "ansiblue bold",
        "pygments.keyword.type": "ansicyan",
        "pygments.literal.string": "ansigreen",
        "pygments.literal.number": "ansimagenta",
        "pygments.name.function": "ansicyan",
        "pygments.name.variable": "ansiyellow",
        "pygments.comment": "ansibrightblack",
        "bottom-toolbar": "noreverse ansibrightblack",
    }
)
