"""Decode text in binlogs as the server does, in every character set with a codec of Python.

In a snapshot the server converts text to UTF-8. In a binlog, text has the bytes of its column. Both
give the same text, also for bytes that are no character: the server gives a sign instead, and so
does the decoder. A value never ends a job.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator

from streamtable.connectors.mysql_cdc.reader.values.mysql_characters import (
    OWN_CHARACTERS,
    REPLACEMENT,
    UNDEFINED,
)

#: MySQL's name -> Python's codec. Character sets without a codec (swe7, dec8, hp8, ...) are refused
#: by name.
CODECS = {
    "ascii": "ascii",
    "big5": "big5",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1256": "cp1256",
    "cp1257": "cp1257",
    "cp850": "cp850",
    "cp852": "cp852",
    "cp866": "cp866",
    "cp932": "cp932",
    "eucjpms": "euc_jp",
    "euckr": "cp949",
    "gb18030": "gb18030",
    "gb2312": "gb2312",
    "gbk": "gbk",
    "greek": "iso8859_7",
    "hebrew": "iso8859_8",
    "koi8r": "koi8_r",
    "koi8u": "koi8_u",
    "latin1": "cp1252",
    "latin2": "iso8859_2",
    "latin5": "iso8859_9",
    "latin7": "iso8859_13",
    "macce": "mac_latin2",
    "macroman": "mac_roman",
    "sjis": "shift_jis",
    "tis620": "tis_620",
    "ucs2": "utf_16_be",
    "ujis": "euc_jp",
    "utf16": "utf_16_be",
    "utf16le": "utf_16_le",
    "utf32": "utf_32_be",
    "utf8": "utf_8",
    "utf8mb3": "utf_8",
    "utf8mb4": "utf_8",
}
_PAIRS = re.compile(rb"[\0-\x7f]+|[\x80-\xff][\x30-\xff]|.", re.DOTALL)
_SHIFT_JIS = re.compile(rb"[\0-\x7f\xa1-\xdf]+|[\x80-\xff][\x40-\xfc]|.", re.DOTALL)
_EUC = re.compile(rb"[\0-\x7f]+|\x8f?[\x80-\xff][\xa1-\xfe]|.", re.DOTALL)
#: Characters of the character sets in which a character has up to two or three bytes.
_CHARACTERS = {
    **dict.fromkeys(("big5", "euckr", "gb2312", "gbk"), _PAIRS),
    **dict.fromkeys(("cp932", "sjis"), _SHIFT_JIS),
    **dict.fromkeys(("eucjpms", "ujis"), _EUC),
}
_SINGLE = re.compile(rb".", re.DOTALL)

_LOG = logging.getLogger("streamtable")
#: Columns with bytes that are no character, which this process has reported.
_REPORTED: set[str] = set()

#: Called with the bytes of a text in which the decoder has replaced bytes that are no character.
Report = Callable[[bytes], None]


def decoder(charset: str, report: Report = lambda _: None) -> Callable[[bytes], str]:
    """Return the decoder of a character set: bytes of a column -> text.

    Args:
        charset: MySQL's name.
        report: called for each text with bytes that are no character.

    Raises:
        KeyError: Python has no codec for the character set.
    """
    charset = charset.lower()
    codec = CODECS[charset]
    if codec.startswith("utf_") or codec == "gb18030":
        return _unicode(codec, report)
    own = OWN_CHARACTERS.get(charset, {})
    others = b"|".join(re.escape(code) for code in own if _plain(code, codec) is not None)
    differs = re.compile(others).search if others else None
    characters = _CHARACTERS.get(charset, _SINGLE)

    def pieces(data: bytes) -> Iterator[str]:
        for code in characters.findall(data):
            text = own.get(code) or _plain(code, codec) or UNDEFINED
            if text in (UNDEFINED, REPLACEMENT) and code != UNDEFINED.encode():
                report(data)
            yield text

    def decode(data: bytes) -> str:
        if differs is None or differs(data) is None:
            try:
                return data.decode(codec)
            except UnicodeDecodeError:
                pass
        return "".join(pieces(data))

    return decode


def reported_once(column: str, charset: str | None) -> Report:
    """Return a function that warns of replaced bytes in a column, once in each process."""

    def report(data: bytes) -> None:
        if column not in _REPORTED:
            _REPORTED.add(column)
            _LOG.warning(
                "column %s has bytes that are no character of %s, such as in X'%s': they become a"
                " sign, as in a SELECT",
                column,
                charset,
                data[:32].hex(),
            )

    return report


def _plain(code: bytes, codec: str) -> str | None:
    try:
        return code.decode(codec)
    except UnicodeDecodeError:
        return None


def _unicode(codec: str, report: Report) -> Callable[[bytes], str]:
    """Return the decoder of a Unicode encoding.

    MySQL lets surrogates pass, also in UTF-8. Two that belong together are one character.
    """

    def decode(data: bytes) -> str:
        try:
            return data.decode(codec)
        except UnicodeDecodeError:
            report(data)
        try:
            passed = data.decode(codec, "surrogatepass").encode("utf_16_be", "surrogatepass")
        except UnicodeDecodeError:
            return data.decode(codec, "replace")
        return passed.decode("utf_16_be", "replace")

    return decode
