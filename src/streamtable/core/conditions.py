"""Every error condition, as data: name, wording, and nothing else.

Names are stable: tests and users match on them. `{fields}` are filled by the place that raises.
Kept sorted by name; `tests/unit/core/test_conditions.py` guards order and use.
"""

from __future__ import annotations

from enum import Enum


class Condition(Enum):
    """A kind of fault; the value is the template of its message."""

    ACCESS_DENIED = "Kafka at {servers} does not allow it: {what}"
    AGGREGATE_MISPLACED = "{function} is an aggregate and cannot stand in {clause}"
    ALREADY_EXISTS = "{what} exists already"
    AMBIGUOUS_COLUMN = "column '{column}' is in more than one input: {inputs}"
    ARGUMENT_MISMATCH = "{function} takes {expected}, found ({found})"
    BROKER_FAILED = "the Kafka cluster at {servers} refused: {reason}"
    BROKER_UNREACHABLE = "no answer from Kafka at {servers} within {seconds} s"
    CAST_UNSUPPORTED = "cannot cast {found} to {target}"
    CHANGE_REFUSED = "{change}: {reason}"
    CHECKPOINT_BUSY = "checkpoint {checkpoint} is in use by process {pid}"
    CHECKPOINT_ENDED = "the input of the job of checkpoint {checkpoint} has ended"
    CHECKPOINT_MISMATCH = "checkpoint {checkpoint} was written by another job: {difference}"
    CHECKPOINT_UNREADABLE = "checkpoint {checkpoint} cannot be used: {reason}"
    COLUMN_COUNT_MISMATCH = "{table} expects {expected} columns{columns}, found {found}"
    COLUMN_TYPE_MISMATCH = (
        "column '{column}' of {table} is {expected}, the query gives {found} there"
    )
    DATA_LOST = "records that {table} needs are gone: {reason}"
    DEV_BROKER_FAILED = "the development broker did not start: {reason}"
    DEV_BROKER_RUNNING = "a development broker is already running at {servers}"
    DEV_REGISTRY_FAILED = "the development schema registry did not start: {reason}"
    DUPLICATE_COLUMN = "column '{column}' is declared twice in {table}"
    DUPLICATE_OPTION = "option '{option}' is given twice"
    DUPLICATE_TABLE = "{table} exists already"
    FILE_UNREADABLE = "cannot read {path}: {reason}"
    FORMAT_NOT_INSERT_ONLY = (
        "table {table} uses '{format}' as {side} format, which carries row kinds of its own"
    )
    FUNCTION_UNUSABLE = "function '{function}' cannot be used: {reason}"
    INVALID_COLUMN_LIST = "column list of {table}: {reason}"
    INVALID_OPTION = "option '{option}' has the value '{value}', which is not {expected}"
    INVALID_PRIMARY_KEY = "primary key of {table}: {reason}"
    INVALID_WATERMARK = "watermark of {table}: {reason}"
    INVALID_WINDOW = "{function}: {reason}"
    JAVA_MISSING = "{tool} was not found: {reason}"
    JOB_FAILED = "{sink}: {reason}"
    KEY_BYTES_DIFFER = (
        "topic '{topic}' has keys that table {table} would not write: {reason};"
        " rows under such keys would stay for ever"
    )
    KEY_FIELDS_PREFIX = "{table}: {reason}"
    LITERAL_OUT_OF_RANGE = "number {found} is out of range"
    LOGIN_FAILED = "no login at Kafka at {servers}: {reason}"
    MERGE_CONFLICT = "LIKE: the source has {what} already"
    METADATA_READ_ONLY = "column '{column}' is metadata '{key}', which cannot be written"
    MISSING_OPTION = "table {table} lacks the option '{option}', which {owner} requires"
    NOT_ENOUGH_SLOTS = (
        "real-time mode holds {needed} tasks at once, and Spark has room for {available}"
    )
    NOT_GROUPED = "column '{column}' is neither in GROUP BY nor inside an aggregate"
    NOT_YET = "{what} is not there yet"
    NOTHING_TO_RUN = "{file} has no INSERT, so there is nothing to run"
    NULL_EVENT_TIME = "an event time is NULL: {reason}"
    NULL_IN_NOT_NULL_COLUMN = "a NULL cannot be written: {reason}"
    OPTION_CONFLICT = "options do not go together: {reason}"
    OPTION_NOT_SETTABLE = "option '{option}' cannot be set: {reason}"
    PORT_TAKEN = "cannot listen at {host}:{port}: {reason}"
    PRIMARY_KEY_REQUIRED = "table {table} needs a PRIMARY KEY, because {owner} does"
    RECORD_UNREADABLE = "a record cannot be read: {reason}"
    RECORD_UNWRITABLE = "a record cannot be written: {reason}"
    RESOURCE_UNAVAILABLE = "could not fetch {what}: {reason}"
    SCHEMA_INCOMPATIBLE = "subject '{subject}' of the schema registry refuses the schema: {reason}"
    SCHEMA_REGISTRY_FAILED = "the schema registry at {url} refused: {reason}"
    SCHEMA_REGISTRY_UNREACHABLE = "no answer from the schema registry at {url}: {reason}"
    SINK_NEEDS_APPEND = (
        "table {table} (connector 'kafka', format '{format}') takes inserts only,"
        " but {operator} produces {kinds}"
    )
    SYNTAX = "expected {expected}, found {found}"
    TAKES_INSERTS_ONLY = "{operator} does not take updates and deletes, which {source} produces"
    TOPIC_MISSING = "topic '{topic}' of table {table} does not exist at {servers}"
    UNKNOWN_CATALOG = "catalog {catalog} does not exist"
    UNKNOWN_COLUMN = "column '{column}' is in no input of the query"
    UNKNOWN_CONNECTOR = "table {table} names connector '{connector}', which does not exist"
    UNKNOWN_DATABASE = "database {database} does not exist in catalog {catalog}"
    UNKNOWN_FORMAT = "table {table} names format '{format}', which does not exist"
    UNKNOWN_FUNCTION = "function {function} does not exist"
    UNKNOWN_HINT = "hint {name} does not exist here"
    UNKNOWN_METADATA = "connector '{connector}' has no metadata key '{key}'"
    UNKNOWN_OPTION = "table {table} sets '{option}', which {owner} does not have"
    UNKNOWN_SETTING = "setting '{option}' does not exist"
    UNKNOWN_TABLE = "table {table} does not exist"
    UNKNOWN_VARIABLE = "variable '${{{name}}}' has no value"
    UNSUPPORTED_TYPE = "type {found} cannot be used here: {reason}"

    @property
    def template(self) -> str:
        """The wording, with `{fields}`."""
        return self.value
