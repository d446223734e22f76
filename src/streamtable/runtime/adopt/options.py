"""Options of an adoption."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from streamtable.runtime.upgrade.options import UpgradeOptions


@dataclass(frozen=True)
class AdoptOptions(UpgradeOptions):
    """Options of an adoption, whose checkpoint is new; of an upgrade, it has no other than these.

    Attributes:
        checkpoint: checkpoint directory; a missing one is created.
        plan: only describe the adoption.
        master: Spark's master URL; None runs Spark on this machine.
        verbose: whether Spark's own log is shown.
        at: topic -> partition -> end offset, exclusive, of the records that the other engine has
            read.
        group: consumer group whose committed offsets are the ends of the other topics; None for the
            current ends of the topics.
    """

    at: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    group: str | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """What decides the ends, as JSON data; empty if nothing is given."""
        at = {t: {str(p): offset for p, offset in given.items()} for t, given in self.at.items()}
        return ({"at": at} if at else {}) | ({"group": self.group} if self.group else {})
