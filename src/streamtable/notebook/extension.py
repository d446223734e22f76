"""The magics `%flinksql` and `%%flinksql`, and the display of results in notebooks."""

from __future__ import annotations

import argparse
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from IPython.core.error import UsageError
from IPython.display import DisplayHandle, display

from streamtable.api.connect import connect
from streamtable.api.job import Job
from streamtable.api.query import Query
from streamtable.api.result import Answered, Result
from streamtable.api.session import Session
from streamtable.core.errors import StreamtableError, singles
from streamtable.notebook.drawings import (
    PLOTS,
    Bundle,
    Drawing,
    TableDrawing,
    html_table,
    plot_drawing,
)
from streamtable.notebook.live import LiveResult
from streamtable.shell.statements import results
from streamtable.sql.lexer.excerpt import excerpt

_MAGIC = "flinksql"
_FILE = "cell"
_LIMIT = 50
#: Options that a value follows.
_WITH_VALUE = ("--limit", "--plot", "--seconds", "--x", "--y")
#: Time between two looks at a job that starts, in seconds.
_POLL_S = 0.2
#: Name of the variable with the session, as in the examples of the Python API.
_SESSION = "session"


def load(shell: Any) -> None:
    """Register the magics, and the HTML display of results."""
    magic = FlinkSql(shell.user_ns)

    def flinksql(line: str, cell: str | None = None) -> Result | None:
        return magic.run(line, cell)

    flinksql.__doc__ = f"{FlinkSql.__doc__}\n{magic.options.format_help()}"
    shell.register_magic_function(flinksql, "line_cell", _MAGIC)
    shell.display_formatter.formatters["text/html"].for_type(Answered, _answer_html)


class FlinkSql:
    """Run statements of Flink SQL: `%%flinksql` above them, or `%flinksql` before one.

    A SELECT shows its rows and updates them until it ends or the kernel is interrupted. INSERTs
    start a job, which goes on in the background. `${name}` is the variable `name` of the notebook,
    or of the environment. Statements run in the session of the variable `session`; the first cell
    opens one if there is none.
    """

    def __init__(self, names: dict[str, Any]) -> None:
        """Take the variables of the notebook."""
        self._names = names
        self._background: list[LiveResult] = []
        self.options = _options()

    def run(self, line: str, cell: str | None) -> Result | None:
        """Run a line, or a cell whose first line has the options; return a job it starts.

        Raises:
            UsageError: wrong options.
            StreamtableError: an error of the statements; IPython shows it without a traceback.
        """
        options, text = _parts(line)
        arguments = self.options.parse_args(options.split())
        if cell is not None and text:
            _refuse(f"write `{text}` into the lines below %%{_MAGIC}")
        text = text if cell is None else cell
        if arguments.stop:
            self._stop()
        try:
            return self._run(text, arguments)
        except StreamtableError as error:
            _shorten(error, text)
            raise

    def _run(self, text: str, arguments: argparse.Namespace) -> Result | None:
        last: Result | None = None
        if not text.strip():
            return None
        for result in results(self._session(), text, _Variables(self._names), _FILE):
            last = result
            if isinstance(result, Query):
                self._show(result, arguments)
            elif isinstance(result, Answered) and not result.answer.plain:
                display(result)
            else:
                if isinstance(result, Job):
                    _await_start(result)
                result.print()
        return last if isinstance(last, Job) else None

    def _session(self) -> Session:
        found = self._names.get(_SESSION)
        if isinstance(found, Session):
            return found
        if found is not None:
            hint = "assign streamtable.connect() to it, or delete it"
            _refuse(f"the variable `{_SESSION}` is no session of streamtable: {hint}")
        opened = connect()
        self._names[_SESSION] = opened
        return opened

    def _show(self, query: Query, arguments: argparse.Namespace) -> None:
        drawing: Drawing
        if arguments.plot:
            drawing = plot_drawing(query.fields, arguments.plot, arguments.x, arguments.y)
        else:
            drawing = TableDrawing(query.fields, arguments.changes)
        handle = DisplayHandle()
        handle.display(drawing.draw([], "starting"), raw=True)

        def show(bundle: Bundle) -> None:
            handle.update(bundle, raw=True)

        live = LiveResult(
            query,
            drawing,
            show,
            limit=arguments.limit,
            changes=arguments.changes,
            seconds=arguments.seconds,
        )
        if not arguments.background:
            live.run()
            return
        self._background.append(live)
        threading.Thread(target=live.run, name="streamtable-live", daemon=True).start()

    def _stop(self) -> None:
        while self._background:
            self._background.pop().stop()


class _Options(argparse.ArgumentParser):
    """Options of the magic; wrong ones are an error of the cell, not of the kernel."""

    def error(self, message: str) -> NoReturn:
        """Raise a UsageError."""
        _refuse(f"%{_MAGIC}: {message}; %{_MAGIC}? lists the options")


def _options() -> _Options:
    options = _Options(prog=f"%%{_MAGIC}", add_help=False, allow_abbrev=False)
    add = options.add_argument
    add("--changes", action="store_true", help="show the newest changes instead of rows")
    add("--limit", type=_positive, default=_LIMIT, help="number of rows that are shown (50)")
    add("--seconds", type=float, help="stop a SELECT after this time")
    add("--background", action="store_true", help="update the rows while other cells run")
    add("--stop", action="store_true", help="stop the SELECTs in the background")
    add("--plot", choices=PLOTS, help="plot the rows of a SELECT")
    add("--x", help="column of the horizontal axis; by default the first one")
    add("--y", action="append", default=[], help="column of the values; may be repeated")
    return options


def _positive(text: str) -> int:
    if int(text) < 1:
        raise ValueError(text)
    return int(text)


def _refuse(message: str) -> NoReturn:
    raise UsageError(message)


class _Variables(Mapping[str, str]):
    """Variables of the notebook that hold a text or a number, for `${name}`."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names

    def __getitem__(self, name: str) -> str:
        value = self._names[name]
        if isinstance(value, str | int | float):
            return str(value)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (name for name in list(self._names) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _parts(line: str) -> tuple[str, str]:
    """Split the line of a magic into its options and the statement behind them."""
    value = False
    for word in re.finditer(r"\S+", line):
        if value or word[0].startswith("--"):
            value = not value and word[0] in _WITH_VALUE
        else:
            return line[: word.start()], line[word.start() :]
    return line, ""


def _await_start(job: Job) -> None:
    """Wait until a job writes to its tables, so that the next cell can read them.

    Raises:
        StreamtableError: the error that ended the job meanwhile.
    """
    while job.status() == "INITIALIZING":
        job.wait(_POLL_S)


def _answer_html(result: Answered) -> str:
    answer = result.answer
    return html_table(answer.columns, answer.rows)


def _shorten(error: StreamtableError, text: str) -> None:
    """Let IPython show an error by its lines and its place instead of a traceback."""
    lines: list[str] = []
    for single in singles(error):
        lines.append(f"error: {single}")
        here = single.at is not None and single.at.file == _FILE
        shown = excerpt(text, single.at) if single.at is not None and here else None
        lines += [] if shown is None else [shown]

    def render() -> Sequence[str]:
        return lines

    error._render_traceback_ = render  # type: ignore[attr-defined]  # IPython's name
