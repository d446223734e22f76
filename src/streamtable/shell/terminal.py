"""The interactive shell: a prompt with history, completion, colours and many lines."""

from __future__ import annotations

from pathlib import Path

import click
from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.patch_stdout import patch_stdout

from streamtable import __version__
from streamtable.shell.colours import STYLE, FlinkSqlLexer
from streamtable.shell.completion import SqlCompleter
from streamtable.shell.history import history_in
from streamtable.shell.shell import Shell
from streamtable.shell.shortcuts import shortcut_of
from streamtable.shell.statements import is_whole

_PROMPT = "streamtable> "
_YES = ("y", "yes")


class Terminal:
    """A prompt over a shell.

    Args:
        shell: runs what is typed.
        history: file of the history; None takes the user's.
    """

    def __init__(self, shell: Shell, history: Path | None) -> None:
        self._shell = shell
        self._prompt: PromptSession[str] = PromptSession(
            _PROMPT,
            history=history_in(history),
            lexer=PygmentsLexer(FlinkSqlLexer),
            style=STYLE,
            completer=SqlCompleter(shell.session),
            complete_while_typing=False,
            auto_suggest=AutoSuggestFromHistory(),
            multiline=True,
            key_bindings=self._keys(),
            prompt_continuation=lambda width, _line, _wrapped: "> ".rjust(width),
            bottom_toolbar=self._jobs,
            refresh_interval=1.0,
        )

    def loop(self) -> None:
        """Run what is typed until QUIT or Ctrl-D."""
        click.echo(f"streamtable {__version__}: Flink SQL on Spark. \\? shows help, \\q leaves.")
        while True:
            try:
                with patch_stdout(raw=True):
                    text = self._prompt.prompt()
                goes_on = not text.strip() or self._shell.enter(text)
            except KeyboardInterrupt:
                continue  # Ctrl-C empties the line, or ends the output of a statement
            except EOFError:
                goes_on = False
            if not goes_on and self._leaves():
                return

    def _leaves(self) -> bool:
        """Ask whether to leave running jobs, which end with the shell."""
        running = self._shell.session.running_jobs
        if not running:
            return True
        names = ", ".join(f"job {job.id} ({job.name})" for job in running)
        question = f"{names}: still running, and stopped when you leave. Leave? [y/N] "
        try:
            with patch_stdout(raw=True):
                return self._ask(question).strip().lower() in _YES
        except KeyboardInterrupt:
            return False
        except EOFError:
            return True

    def _ask(self, question: str) -> str:
        asking: PromptSession[str] = PromptSession(question)
        return asking.prompt()

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            """End the statement, or begin a line of it."""
            buffer = event.current_buffer
            if buffer.complete_state and buffer.complete_state.current_completion:
                buffer.complete_state = None
            elif self._ends(buffer.text):
                buffer.validate_and_handle()
            else:
                buffer.newline(copy_margin=False)

        return keys

    def _ends(self, text: str) -> bool:
        try:
            return shortcut_of(text) is not None or is_whole(text, self._shell.variables)
        except Exception:
            return True  # running it tells the error

    def _jobs(self) -> str | None:
        running = len(self._shell.session.running_jobs)
        word = "job" if running == 1 else "jobs"
        return f"{running} {word} running; SHOW JOBS lists them" if running else None
