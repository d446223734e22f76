"""Characters that MySQL decodes in another way than Python's codec of the same character set.

Source: what a server gives for `CONVERT(... USING utf8mb4)`, which is what a snapshot contains. The
tables have further characters of MySQL, and those that Python decodes but MySQL does not.
"""

from __future__ import annotations

from collections.abc import Iterator

#: MySQL's sign for a character that is not in the character set.
UNDEFINED = "?"
#: The same sign, where MySQL's table of the character set names it.
REPLACEMENT = "\ufffd"

#: Rows 0xF5 to 0xFE of the EUC character sets of Japanese are characters of the user.
_USER_ROWS = range(0xF5, 0xFF)
_TRAILS = range(0xA1, 0xFF)


def _user_defined() -> Iterator[tuple[bytes, str]]:
    for plane, lead in enumerate((b"", b"\x8f")):
        for row in _USER_ROWS:
            for trail in _TRAILS:
                at = (plane * len(_USER_ROWS) + row - _USER_ROWS[0]) * len(_TRAILS)
                yield lead + bytes((row, trail)), chr(0xE000 + at + trail - _TRAILS[0])


def _consecutive(first: bytes, text: str) -> Iterator[tuple[bytes, str]]:
    """Yield characters of consecutive EUC codes; a blank is an undefined code."""
    *lead, row, trail = first
    for sign in text:
        if sign != " ":
            yield bytes((*lead, row, trail)), sign
        row, trail = (row, trail + 1) if trail < _TRAILS[-1] else (row + 1, _TRAILS[0])


_NEC = (
    "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ "
    "㍉㌔㌢㍍㌘㌧㌃㌶㍑㍗㌍㌦㌣㌫㍊㌻㎜㎝㎞㎎㎏㏄㎡        ㍻〝〟№㏍℡㊤㊥㊦㊧㊨"
    "㈱㈲㈹㍾㍽㍼≒≡∫∮∑√⊥∠∟⊿∵∩\u222a"
)
#: UTF-16, because editors replace compatibility characters.
_IBM = bytes.fromhex(
    "21702171217221732174217521762177217821792160216121622163216421652166216721682169ff07ff02"
    "32312116212170bb4efc50f451ec53075324fa0e548a5759fa0ffa10589e5bec5cf55d53fa115fb760856120"
    "654e663b6665fa12f9296801fa13fa146a6b6ae26df86df27028fa15fa1675017682769efa177930fa18fa19"
    "fa1afa1b7ae7fa1cfa1d7da07dd6fa1e8362fa1f85b0fa20fa218807fa228b7f8cf48d76fa23fa24fa2590de"
    "fa269115fa27fa289592f9dcfa29973b974d9751fa2afa2bfa2c999e9ad99b72fa2d9ed1"
).decode("utf_16_be")

#: MySQL's name of the character set -> bytes of a character -> its text.
OWN_CHARACTERS: dict[str, dict[bytes, str]] = {
    "big5": {
        **{
            bytes.fromhex(code): REPLACEMENT
            for code in ("a15a", "a1c3", "a1c5", "a1fe", "a240", "a2cc", "a2ce")
        },
        **dict(_consecutive(b"\xf9\xd6", "碁銹裏墻恒粧嫺")),
    },
    "cp1256": {bytes((code,)): UNDEFINED for code in b"\x8a\x8f\x98\x9a\x9f\xaa\xc0\xff"},
    "cp866": {b"\xfc": "ⁿ", b"\xfd": "²"},
    "eucjpms": {
        b"\xa1\xc1": "\uff5e",
        b"\xa1\xc2": "∥",
        b"\xa1\xdd": "\uff0d",
        b"\xa1\xf1": "￠",
        b"\xa1\xf2": "￡",
        b"\xa2\xcc": "￢",
        b"\x8f\xa2\xb7": "\uff5e",
        b"\x8f\xa2\xc3": "￤",
        **dict(_consecutive(b"\xad\xa1", _NEC)),
        **dict(_consecutive(b"\x8f\xf3\xf3", _IBM)),
        **dict(_user_defined()),
    },
    "greek": {
        b"\xa1": "\u02bd",
        b"\xa2": "\u02bc",
        **dict.fromkeys((b"\xa4", b"\xa5", b"\xaa"), UNDEFINED),
    },
    "hebrew": {b"\xaf": "‾"},
    "koi8u": {b"\x95": "•"},
    # Windows' cp1252, with control characters for its five gaps.
    "latin1": {bytes((code,)): chr(code) for code in b"\x81\x8d\x8f\x90\x9d"},
    "sjis": {b"\x81\x5f": "\\"},
    "tis620": {bytes((code,)): REPLACEMENT for code in b"\xa0\xdb\xdc\xdd\xde\xfc\xfd\xfe\xff"},
    "ujis": {b"\xa1\xc0": "\\", **dict(_user_defined())},
}
