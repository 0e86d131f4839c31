"""The arguments by which every command takes data: a project file, or files and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_type_hints

import typer

from tielink.faults import Faults, InputError
from tielink.fields import FIELD_KINDS, Field

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.data.linkage import Linkage
    from tielink.data.sources import Sources
    from tielink.data.ties import Directed
    from tielink.project import Project

__all__ = ["field_options", "read_data", "takes_data"]

Inputs = Annotated[
    list[Path],
    typer.Argument(help="A project file (.toml), or one file of records for each source (CSV, TSV, Parquet)."),
]
Ties = Annotated[
    list[Path] | None,
    typer.Option("--ties", help="A file of ties for each file of records, in the same order ('-' for none)."),
]
Anchors = Annotated[Path | None, typer.Option("--anchors", help="Known matches: columns id_a, id_b.")]
Nonmatches = Annotated[Path | None, typer.Option("--nonmatches", help="Known non-matches: columns id_a, id_b.")]
Truth = Annotated[Path | None, typer.Option("--truth", help="The true matches, for scoring only.")]
IdColumn = Annotated[str | None, typer.Option("--id", help="The id column. [default: id, or the first column]")]
DirectedTies = Annotated[
    str | None,
    typer.Option("--directed", help="For directed ties: 'any' keeps all, 'mutual' those listed both ways."),
]
DropFaultyTies = Annotated[
    bool, typer.Option("--drop-faulty-ties", help="Leave out and count self-ties, copies and unknown ids.")
]
Missing = Annotated[list[str] | None, typer.Option("--missing", help="A text that means a missing value: NA.")]
Encoding = Annotated[str | None, typer.Option("--encoding", help="How text files are encoded. [default: utf-8]")]


def project_from(
    inputs: Inputs,
    ties: Ties = None,
    anchors: Anchors = None,
    nonmatches: Nonmatches = None,
    truth: Truth = None,
    id_column: IdColumn = None,
    directed: DirectedTies = None,
    drop_faulty_ties: DropFaultyTies = False,
    missing: Missing = None,
    encoding: Encoding = None,
    *,
    faults: Faults,
    fields: dict[str, list[str] | None],
) -> Project:
    """Make a project of the command line's arguments, or read the project file that they name."""
    from tielink.project import Project

    given = [ties, *fields.values(), anchors, nonmatches, truth, id_column, directed, missing, encoding]
    if len(inputs) == 1 and inputs[0].suffix.lower() == ".toml":
        if any(value is not None for value in given) or drop_faulty_ties:
            faults.error(str(inputs[0]), "a project file says everything about the data.", "Put the options into it.")
        return Project.read(inputs[0], faults)
    known = {"anchors": anchors, "nonmatches": nonmatches, "truth": truth}
    return Project(
        _sources(
            inputs, ties or [], _fields(fields), known, id_column, directed, drop_faulty_ties, missing or [], encoding or "utf-8"
        )
    )


def takes_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command `(project, faults, …its own options)` the arguments by which all commands take data."""
    data = _parameters(project_from)
    del data["faults"], data["fields"]
    kinds = _kind_parameters()
    own = dict(list(_parameters(command).items())[2:])

    def run(**arguments: Any) -> None:
        faults = Faults()
        given = {name: arguments.pop(name) for name in data if name in arguments}
        fields = {name: arguments.pop(name) for name in kinds if name in arguments}
        command(project_from(**given, faults=faults, fields=fields), faults, **arguments)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    first, second, *rest = data.items()
    everything = dict([first, second, *kinds.items(), *rest, *own.items()])
    run.__signature__ = Signature(list(everything.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in everything.items()}
    return run


_LAZY: dict[str, Any] = dict.fromkeys(("Project", "Sources", "Directed"), object)
"""Names in annotations that are not imported here, so that help texts come quickly."""


def _parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters of a function with their annotations resolved."""
    hints = get_type_hints(function, include_extras=True, localns=_LAZY)
    return {
        name: parameter.replace(annotation=hints[name], kind=Parameter.POSITIONAL_OR_KEYWORD)
        for name, parameter in signature(function).parameters.items()
    }


def _kind_parameters() -> dict[str, Parameter]:
    """Return an option for every kind of field there is: `--string COLUMN`, `--categorical COLUMN`, …."""
    found = {}
    for kind in FIELD_KINDS:
        words = (kind.__doc__ or "").partition("\n")[0].rstrip(".")
        option = typer.Option(_option(kind), metavar="COLUMN", help=f"{words}. May be given again.")
        found[kind.kind] = Parameter(
            kind.kind, Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=Annotated[list[str] | None, option]
        )
    return found


def _option(kind: type[Field]) -> str:
    return f"--{kind.kind.replace('_', '-')}"


def field_options() -> str:
    """Name the options that say what a column means."""
    return ", ".join(f"{_option(kind)} COLUMN" for kind in FIELD_KINDS)


def read_data(project: Project, faults: Faults) -> tuple[Dataset, Linkage | None]:
    """Read data and truth and try the model on them; raise one error with every fault, the project's own included."""
    from tielink.cli.show import console
    from tielink.data.dataset import Dataset
    from tielink.model.problem import Problem

    with console.status("Reading and checking …"):
        dataset = Dataset.assembled(*project.sources.load(faults))
        truth = project.sources.read_truth(dataset, faults)
        if not faults.errors:
            try:
                Problem.compile(project.model, dataset)
            except InputError as error:
                faults.extend(error.faults)
    faults.raise_errors()
    return dataset, truth


def _fields(named: dict[str, list[str] | None]) -> dict[str, Field] | None:
    """Declare the fields that the options name; None, so that all are guessed, when they name none."""
    faults, declared = Faults(), dict[str, Field]()
    for kind in FIELD_KINDS:
        for name in named.get(kind.kind) or []:
            if name in declared and declared[name].kind != kind.kind:
                both = f"{_option(type(declared[name]))} and {_option(kind)}"
                faults.error(both, f"both name [{name!r}].", "Say one of the two.")
            declared[name] = kind()
    faults.raise_errors()
    return declared or None


def _sources(
    inputs: list[Path],
    ties: list[Path],
    fields: dict[str, Field] | None,
    known: dict[str, Path | None],
    id_column: str | None,
    directed: str | None,
    drop_faulty_ties: bool,
    missing: list[str],
    encoding: str,
) -> Sources:
    from tielink.data.sources import Sources

    faults = Faults()
    if ties and len(ties) != len(inputs):
        faults.error(
            "--ties",
            f"{len(ties)} given for {len(inputs)} files of records.",
            "Give one for each, in the same order, '-' where there is none.",
        )
    if directed not in (None, "any", "mutual"):
        faults.error("--directed", f"is {directed!r}.", "Give 'any' or 'mutual'.")
    faults.raise_errors()
    names = _names(inputs)
    return Sources(
        folder=Path(),
        records=dict(zip(names, map(str, inputs), strict=True)),
        ties={name: str(path) for name, path in zip(names, ties, strict=False) if str(path) != "-"},
        ids=dict.fromkeys(names, id_column) if id_column is not None else {},
        fields=fields,
        directed=dict.fromkeys(names, cast("Directed", directed)) if directed else {},
        faulty_ties="drop" if drop_faulty_ties else "refuse",
        missing=missing,
        encoding=encoding,
        **{key: None if path is None else str(path) for key, path in known.items()},
    )


def _names(inputs: list[Path]) -> list[str]:
    """Name each file by its stem, with its folder where stems repeat, numbered where that repeats too."""
    stems = [path.stem for path in inputs]
    names = [f"{path.parent.name}_{path.stem}" if stems.count(path.stem) > 1 else path.stem for path in inputs]
    return [f"{name}_{place + 1}" if names.count(name) > 1 else name for place, name in enumerate(names)]
