"""Relation: a table or view, known by its name alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt.adapters.base.relation import BaseRelation, Policy
from dbt.adapters.streamtable.refusals import refuse


@dataclass
class _NameOnly(Policy):
    database: bool = False
    schema: bool = False
    identifier: bool = True


@dataclass(frozen=True, eq=False, repr=False)
class StreamtableRelation(BaseRelation):
    """A relation. Its text in Flink SQL and in Spark SQL is the quoted name: `` `orders` ``.

    There is one catalog with one database, so that a name stands for one relation of the project.
    """

    quote_character: str = "`"
    include_policy: Policy = field(default_factory=_NameOnly)
    quote_policy: Policy = field(default_factory=Policy)

    def render_limited(self) -> str:
        """Refuse `--empty`, which would change the queries of running jobs."""
        if self.limit is not None:
            refuse("--empty", "run without it; `dbt compile` and `dbt parse` start no job")
        return self.render()

    def render_event_time_filtered(self, rendered: str | None = None) -> str:
        """Refuse `--sample` and microbatches, which would change the queries of running jobs."""
        if self.event_time_filter is not None:
            refuse("--sample", "run without it; a job reads its whole input")
        return rendered or self.render()
