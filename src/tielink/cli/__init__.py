"""The `tielink` command. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from tielink.cli.check import check
from tielink.cli.demo import demo
from tielink.cli.estimate import estimate
from tielink.cli.evaluate import evaluate
from tielink.cli.link import link
from tielink.cli.sample import resume, sample
from tielink.cli.select import select
from tielink.cli.simulate import simulate
from tielink.faults import InputError

__all__ = ["main"]

app = typer.Typer(
    name="tielink",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # brackets in help texts are brackets
    help="Tell which records in different files are the same person, from profiles and ties.",
)
app.command()(link)
app.command()(check)
app.command()(sample)
app.command()(resume)
app.command()(select)
app.command()(estimate)
app.command()(evaluate)
app.command()(simulate)
app.command()(demo)


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
    try:
        app(args=_spread_ties(sys.argv[1:]))
    except InputError as error:
        from tielink.cli.show import show_faults

        show_faults(error.faults)
        sys.exit(2)
    except KeyboardInterrupt as error:
        typer.echo(f"tielink: {error or 'stopped'}", err=True)
        sys.exit(130)
    except OSError as error:
        typer.echo(f"tielink: {error.filename or ''}: {error.strerror or error}", err=True)
        sys.exit(2)
