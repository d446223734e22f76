"""LIKE clause of CREATE TABLE, as data.

Source: Flink's page *CREATE Statements*, section LIKE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from streamtable.core.errors import Span


class Merging(Enum):
    """How a feature of the source table is merged."""

    INCLUDING = "INCLUDING"
    EXCLUDING = "EXCLUDING"
    OVERWRITING = "OVERWRITING"


class Feature(Enum):
    """A feature of the source table."""

    ALL = "ALL"
    CONSTRAINTS = "CONSTRAINTS"
    DISTRIBUTION = "DISTRIBUTION"
    GENERATED = "GENERATED"
    METADATA = "METADATA"
    OPTIONS = "OPTIONS"
    PARTITIONS = "PARTITIONS"
    WATERMARKS = "WATERMARKS"


_EITHER = (Merging.INCLUDING, Merging.EXCLUDING)
_ANY = (*_EITHER, Merging.OVERWRITING)

#: Valid merging strategies of each feature.
FEATURES: Mapping[Feature, tuple[Merging, ...]] = {
    Feature.ALL: _EITHER,
    Feature.CONSTRAINTS: _EITHER,
    Feature.DISTRIBUTION: _EITHER,
    Feature.GENERATED: _ANY,
    Feature.METADATA: _ANY,
    Feature.OPTIONS: _ANY,
    Feature.PARTITIONS: _EITHER,
    Feature.WATERMARKS: _ANY,
}


@dataclass(frozen=True)
class Like:
    """`LIKE source [(INCLUDING ...)]`.

    Attributes:
        source: name of the source table.
        at: place of that name.
        given: strategies in the script; `merging` supplies the defaults.
    """

    source: tuple[str, ...]
    at: Span
    given: Mapping[Feature, Merging] = field(default_factory=dict)

    def merging(self, feature: Feature) -> Merging:
        """Return a feature's merging strategy: its own, else that of ALL, else Flink's default."""
        default = Merging.OVERWRITING if feature is Feature.OPTIONS else Merging.INCLUDING
        return self.given.get(feature, self.given.get(Feature.ALL, default))
