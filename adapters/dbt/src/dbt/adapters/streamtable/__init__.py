"""dbt adapter for streamtable: dbt looks up `Plugin`."""

from dbt.adapters.base import AdapterPlugin
from dbt.adapters.streamtable.credentials import StreamtableCredentials
from dbt.adapters.streamtable.impl import StreamtableAdapter
from dbt.include import streamtable

Plugin = AdapterPlugin(
    adapter=StreamtableAdapter,  # type: ignore[arg-type]  # dbt's protocol is wider than its base class
    credentials=StreamtableCredentials,
    include_path=streamtable.PACKAGE_PATH,
)
