"""Hash functions over the UTF-8 bytes of a string; results are hexadecimal."""

from __future__ import annotations

from streamtable.core.types import BYTES_ROOTS, CHARACTER, STRING, char, varchar
from streamtable.plan.functions.kinds import WHOLE
from streamtable.plan.functions.model import Category, Function, Kind, of_roots, one

_HASHED = of_roots("a string or bytes", CHARACTER | BYTES_ROOTS, STRING)
_LENGTHS = (224, 256, 384, 512)
_BYTES = "CAST({0} AS BINARY)"
_LENGTH = Kind("224, 256, 384 or 512", lambda a: WHOLE.take(a) if a.constant in _LENGTHS else None)


def _sha(length: int) -> Function:
    return one(
        f"SHA{length}",
        Category.HASH,
        (_HASHED,),
        char(length // 4),
        f"sha2({_BYTES}, {length})",
        f"The SHA-{length} hash.",
    )


HASHES = (
    one("MD5", Category.HASH, (_HASHED,), char(32), f"md5({_BYTES})", "The MD5 hash."),
    one("SHA1", Category.HASH, (_HASHED,), char(40), f"sha1({_BYTES})", "The SHA-1 hash."),
    *(_sha(length) for length in _LENGTHS),
    one(
        "SHA2",
        Category.HASH,
        (_HASHED, _LENGTH),
        varchar(128),
        f"sha2({_BYTES}, {{1}})",
        "The SHA-2 hash of so many bits.",
    ),
)
