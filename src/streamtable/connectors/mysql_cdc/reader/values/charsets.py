"""Python codecs of MySQL's character sets, for text in binlogs.

In a snapshot the server converts text to UTF-8. In a binlog, text has the bytes of its column.
"""

from __future__ import annotations

from collections.abc import Callable

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
    "euckr": "euc_kr",
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


def decoder(charset: str) -> Callable[[bytes], str]:
    """Return the decoder of a character set: bytes of a column -> text.

    Raises:
        KeyError: Python has no codec for the character set.
    """
    codec = CODECS[charset.lower()]
    if codec == "cp1252":
        return _latin1
    return lambda data: data.decode(codec)


def _latin1(data: bytes) -> str:
    """Decode latin1: MySQL uses Windows' cp1252, with control characters for its five gaps."""
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return "".join(
            chr(byte) if byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else bytes((byte,)).decode("cp1252")
            for byte in data
        )
