"""Shell: runs statements, shortcuts and scripts in one session."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Mapping
from pathlib import Path

import click

from streamtable.api.family import in_family
from streamtable.api.job import Job
from streamtable.api.session import Session
from streamtable.core.errors import StreamtableError
from streamtable.core.secrets import without_secrets
from streamtable.shell.display import display
from streamtable.shell.faults import tell_error
from streamtable.shell.shortcuts import SHORTCUTS, help_text, shortcut_of
from streamtable.shell.statements import results, without_leaving
from streamtable.sql.lexer.script import NO_FILE, read_script

#: Interval of looks at jobs, in seconds.
_POLL_S = 0.5


class Shell:
    """What a terminal and a script have in common.

    Args:
        session: the session of all statements.
        variables: values of `${name}`.
        follows: whether the end of a job is printed while something else may run.
        debug: whether `enter` prints the traceback of an error.
    """

    def __init__(
        self,
        session: Session,
        variables: Mapping[str, str],
        *,
        follows: bool = False,
        debug: bool = False,
    ) -> None:
        self.session = session
        self.variables = variables
        self._follows = follows
        self._debug = debug

    def enter(self, text: str) -> bool:
        """Run what a user has typed, and print its errors.

        Returns:
            Whether to go on; False after QUIT.
        """
        try:
            shortcut = shortcut_of(text)
            if shortcut is None:
                self.run(text, NO_FILE)
                return True
            name, argument = shortcut
            sql = SHORTCUTS[name].sql
            if sql is None:
                return self._do(name, argument)
            text = sql(argument)  # what places of an error refer to
            self.run(text, NO_FILE)
        except Exception as error:  # also a bug, which must not end the session
            if self._debug:
                click.echo(without_secrets(traceback.format_exc()), err=True, nl=False)
            tell_error(in_family(error), text, NO_FILE)
        except KeyboardInterrupt:
            click.echo("interrupted")
        return True

    def run(self, text: str, file: str) -> None:
        """Run the statements of a text, one after the other.

        Nothing runs unless all statements are valid.

        Raises:
            StreamtableError: an error of the text, or the first error of a run.
        """
        for result in results(self.session, text, self.variables, file):
            display(result)
            if isinstance(result, Job) and self._follows:
                self._follow(result)

    def wait(self) -> None:
        """Wait for the ends of all jobs; raise the error of the first job that fails."""
        while running := self.session.running_jobs:
            for job in self.session.jobs:
                job.wait(0)
            running[0].wait(_POLL_S)
        for job in self.session.jobs:
            job.wait()

    def run_script(self, text: str, file: str) -> None:
        """Run the statements of a script, which may end with QUIT or EXIT.

        Raises:
            StreamtableError: as for `run`.
        """
        self.run(without_leaving(text, file, self.variables), file)

    def run_file(self, file: Path) -> None:
        """Run the statements of a file.

        Raises:
            StreamtableError: FILE_UNREADABLE, or as for `run`.
        """
        self.run_script(read_script(file), str(file))

    def _do(self, name: str, argument: str) -> bool:
        if name == "\\i":
            self._include(Path(argument))
        elif name == "\\clear":
            click.clear()
        elif name == "\\?":
            click.echo(help_text())
        return name != "\\q"

    def _include(self, file: Path) -> None:
        text = read_script(file)
        try:
            self.run_script(text, str(file))
        except StreamtableError as error:
            tell_error(error, text, str(file))

    def _follow(self, job: Job) -> None:
        """Print how a job ends, while something else may run."""

        def follow() -> None:
            error = job.ended_with()
            ended = f"job {job.id} ({job.name}) has ended: {job.status()}"
            click.echo(ended if error is None else f"{ended}: {error}")

        threading.Thread(target=follow, name=f"follow-{job.id}", daemon=True).start()
