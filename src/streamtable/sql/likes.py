"""What CREATE TABLE ... LIKE takes over from another table, as data.

Source: Flink's page *CREATE Statements*, section LIKE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from streamtable.core.errors import Span


class Merging(Enum):
    """What happens to a feature that the source has."""

    INCLUDING = "INCLUDING"
    EXCLUDING = "EXCLUDING"
    OVERWRITING = "OVERWRITING"


class Feature(Enum):
    """A feature of the source."""

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

#: What may be said of each feature.
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
        source: the table's name.
        at: where that stands.
        given: what the script says; `merging` knows the rest.
    """

    source: tuple[str, ...]
    at: Span
    given: Mapping[Feature, Merging] = field(default_factory=dict)

    def merging(self, feature: Feature) -> Merging:
        """What happens to a feature: as it says itself, as ALL says, else as Flink does."""
        default = Merging.OVERWRITING if feature is Feature.OPTIONS else Merging.INCLUDING
        return self.given.get(feature, self.given.get(Feature.ALL, default))
