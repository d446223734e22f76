"""Relation: a table or view, known by its name alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from dbt.adapters.base.relation import BaseRelation, Policy


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
