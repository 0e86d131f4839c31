"""The `tielink` command. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from functools import wraps
from importlib.metadata import version
from typing import Annotated, Any

import typer

from tielink.cli.check import check
from tielink.cli.demo import demo
from tielink.cli.estimate import estimate
from tielink.cli.evaluate import evaluate
from tielink.cli.link import dedupe, link
from tielink.cli.review import review
from tielink.cli.sample import resume, sample
from tielink.cli.select import select
from tielink.cli.simulate import simulate
from tielink.cli.update import update
from tielink.faults import InputError, refuse

__all__ = ["main"]

app = typer.Typer(
    name="tielink",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # brackets in help texts are brackets
    help="Tell which records in different files are the same person, from profiles and ties.",
)
STOPPED = "stopped. What a checkpoint holds is kept: the same command goes on from there, or else begins anew"


def _stoppable(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command say what a Ctrl-C leaves."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt as error:
            typer.echo(f"tielink: {str(error) or STOPPED}", err=True)
            raise typer.Exit(130) from None

    return run


for command in (link, dedupe, review, update, check, sample, resume, select, estimate, evaluate, simulate, demo):
    app.command()(_stoppable(command))


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tielink {version('tielink')}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _spread_ties(arguments: list[str]) -> list[str]:
    """Let one `--ties` take several files: `--ties a b` becomes `--ties a --ties b`.

    >>> _spread_ties(["check", "a.csv", "b.csv", "--ties", "x.csv", "-", "--id", "key"])
    ['check', 'a.csv', 'b.csv', '--ties', 'x.csv', '--ties', '-', '--id', 'key']
    """
    spread: list[str] = []
    taking = False
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            option, equals, value = argument.partition("=")
            taking = option == "--ties"
            if taking and not equals:
                continue
            argument = value if taking else argument
        spread += ["--ties", argument] if taking else [argument]
    return spread


def main() -> None:
    """Run the command line; bad input ends with exit code 2 and every fault, never with a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows another one
    try:
        for argument in sys.argv[1:]:
            if any("\ud800" <= letter <= "\udfff" for letter in argument):
                refuse(argument, "is not UTF-8 text.", "Rename the file.")
        app(args=_spread_ties(sys.argv[1:]))
    except InputError as error:
        from tielink.cli.show import show_faults

        show_faults(error.faults)
        sys.exit(2)
    except MemoryError:
        typer.echo("tielink: there is too little memory for this. Use fewer draws, chains or records.", err=True)
        sys.exit(2)
    except OSError as error:
        of_what = error.filename or "a file could not be read or written"
        typer.echo(f"tielink: {of_what}: {error.strerror or error}", err=True)
        sys.exit(2)
