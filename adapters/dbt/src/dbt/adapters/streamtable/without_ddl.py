"""Adapter without DDL: there are no schemas, and a topic is neither dropped nor renamed."""

from __future__ import annotations

from typing import Any

from dbt.adapters.base import BaseAdapter, BaseRelation
from dbt.adapters.streamtable.refusals import refuse


class WithoutDdl(BaseAdapter):
    """The part of dbt's adapter that changes a database, refused by name."""

    # Schemas

    def list_schemas(self, database: str) -> list[str]:
        """Return the schema of the profile; there is one database."""
        del database
        return [self.config.credentials.schema]

    def check_schema_exists(self, database: str, schema: str) -> bool:
        """Return that any schema exists: schemas are only displayed."""
        del database, schema
        return True

    def create_schema(self, relation: BaseRelation) -> None:
        """Do nothing: schemas are only displayed."""
        del relation

    def drop_schema(self, relation: BaseRelation) -> None:
        """Refuse: nothing is in a schema."""
        refuse(f"to drop the schema {relation.schema}", "stop jobs with `streamtable stop`")

    # What a topic cannot do

    def drop_relation(self, relation: BaseRelation) -> None:
        """Refuse."""
        hint = "stop the job with `streamtable stop`, and delete the topic with Kafka's tools"
        refuse(f"to drop {relation}", hint)

    def truncate_relation(self, relation: BaseRelation) -> None:
        """Refuse."""
        refuse(f"to truncate {relation}", "delete the records with Kafka's tools")

    def rename_relation(self, from_relation: BaseRelation, to_relation: BaseRelation) -> None:
        """Refuse."""
        refuse(f"to rename {from_relation} to {to_relation}", "a topic keeps its name")

    def expand_column_types(self, goal: Any, current: Any) -> None:
        """Refuse."""
        refuse(f"to change the columns of {current} to those of {goal}", "use a new topic")

    # Seeds

    @classmethod
    def _type_of_seed(cls, agate_table: Any, col_idx: int) -> str:
        """Refuse."""
        del agate_table, col_idx
        refuse("seeds", "declare the file as a source with the connector `filesystem`")

    convert_text_type = _type_of_seed
    convert_number_type = _type_of_seed
    convert_boolean_type = _type_of_seed
    convert_datetime_type = _type_of_seed
    convert_date_type = _type_of_seed
    convert_time_type = _type_of_seed
