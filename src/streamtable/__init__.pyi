"""The public names for type checkers; `__init__.py` imports them on demand."""

from streamtable.api.connect import connect as connect
from streamtable.api.job import Job as Job
from streamtable.api.result import Result as Result
from streamtable.api.row import Row as Row
from streamtable.api.session import Session as Session
from streamtable.api.statement_set import StatementSet as StatementSet
from streamtable.api.table import Table as Table
from streamtable.core.changelog import RowKind as RowKind
from streamtable.core.errors import Faults as Faults
from streamtable.core.errors import StreamtableError as StreamtableError

__version__: str

def load_ipython_extension(shell: object) -> None: ...
