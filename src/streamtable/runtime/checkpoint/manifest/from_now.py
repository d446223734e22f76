"""How a query has continued by `upgrade --from-now`: rows of before have stayed in its sink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Self

from streamtable.connector_api.source import Split


class Lacks(Enum):
    """What the state of a query lacks of the records before the upgrade."""

    #: Nothing: the query has kept its state.
    NOTHING = "nothing"
    #: The values of an aggregate that began empty.
    VALUES = "values"
    #: All of them: the state began empty.
    ROWS = "rows"


@dataclass(frozen=True)
class FromNow:
    """The newest upgrade of a query with `--from-now`, since its last rebuild.

    Attributes:
        lacks: what its state lacks.
        ends: end of each split of the sink at an upgrade after which the state began empty; later
            rows are those of later records alone. None if they cannot be told apart.
    """

    lacks: Lacks
    ends: Mapping[Split, int] | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return the part of a query in a manifest."""
        return cls(Lacks(data["lacks"]), data.get("ends"))

    def to_json(self) -> dict[str, Any]:
        """Return the part of the entry of a query."""
        ends = {} if self.ends is None else {"ends": dict(self.ends)}
        return {"lacks": self.lacks.value, **ends}

    @property
    def difference(self) -> str:
        """Why the sink may differ from the rows of the whole input, as a clause."""
        if self.lacks is Lacks.VALUES:
            return "since `upgrade --from-now`, an added aggregate lacks earlier records"
        return "since `upgrade --from-now`, its sink has rows of the query of before"
