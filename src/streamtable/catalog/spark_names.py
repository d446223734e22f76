"""Names of user-defined functions in Spark, which checkpoints contain as part of a plan."""

from __future__ import annotations


def spark_name(prefix: str, readable: str, identity: str) -> str:
    """Return a name that is the same in every run of a script.

    Args:
        prefix: the language of the function.
        readable: its short name; other characters than ASCII letters and digits are replaced.
        identity: what distinguishes the function from others.
    """
    words = "".join(c if c.isascii() and c.isalnum() else "_" for c in readable)
    return f"{prefix}{words}_{digest(identity)}"


def digest(text: str) -> str:
    """Return eight hexadecimal digits of a hash."""
    import hashlib  # only for functions of the user

    return hashlib.sha256(text.encode()).hexdigest()[:8]
