"""The parts of a JDBC url that messages may show, and its secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LOGIN = r"(?:[^/@:,?;()]*(?::[^/@:,?;()]*)?@)?"
_ADDRESS = r"(?:[\w.-]+|\[[\w:.%]+\])(?::\d+)?"
_PAIRS = r"(?:[\w.]+=[^&;]*(?:[&;]+[\w.]+=[^&;]*)*[&;]*)?"
_PAIRS_WITHOUT_AT = _PAIRS.replace("[^&;]", "[^&;@]")
#: Hosts with a login each, and a database. Anything else may be a part of a password.
_HOSTS = re.compile(
    rf"(?P<scheme>jdbc:[\w+:-]+:)//(?P<hosts>(?:{_LOGIN}{_ADDRESS}(?:,{_LOGIN}{_ADDRESS})*)?)"
    rf"(?:(?P<database>/[\w.$%-]*)(?:[?;]{_PAIRS})?|[?;]{_PAIRS_WITHOUT_AT})?"
)
#: A file of SQLite, or a database of the local PostgreSQL.
_LOCAL = re.compile(rf"(?P<shown>jdbc:(?:sqlite:[^?;]*|postgresql:/?[\w.$-]*))(?:[?;]{_PAIRS})?")
_PASSWORDS = re.compile(r"[?&;][^=&;]*passw(?:or)?d[^=&;]*=([^&;]*)", re.IGNORECASE)


def shown_url(url: str) -> str:
    """Return scheme, hosts, ports and database of a url; only its scheme if it has another form.

    >>> shown_url("jdbc:mysql://bob:word@h1:3306,h2/shop?password=x")
    'jdbc:mysql://h1:3306,h2/shop'
    >>> shown_url("jdbc:mysql://(host=h,password=x)/shop")
    'jdbc:mysql:'
    """
    if (local := _LOCAL.fullmatch(url)) is not None:
        return local["shown"]
    if (found := _HOSTS.fullmatch(url)) is None:
        return ":".join(url.split(":")[:2]) + ":"
    hosts = (host.rpartition("@")[2] for host in found["hosts"].split(","))
    return f"{found['scheme']}//{','.join(hosts)}{found['database'] or ''}"


def secrets_of(url: str) -> Iterator[str]:
    """Yield the passwords of a url; all that follows its scheme if it has an unknown form."""
    yield from _PASSWORDS.findall(url)
    if _LOCAL.fullmatch(url) is not None:
        return
    if (found := _HOSTS.fullmatch(url)) is None:
        yield url.removeprefix(shown_url(url))
        return
    for host in found["hosts"].split(","):
        yield host.rpartition("@")[0].partition(":")[2]
