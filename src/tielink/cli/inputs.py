"""The arguments by which every command takes data: a project file, or files and what they mean."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_type_hints

import typer

from tielink.faults import Faults, InputError
from tielink.fields import FIELD_KINDS

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.data.linkage import Linkage
    from tielink.data.sources import Sources
    from tielink.data.ties import Directed
    from tielink.fields import Field
    from tielink.project import Project

__all__ = ["read_data", "takes_data"]

KINDS = {kind.kind: f"A column that is {kind.example}." for kind in FIELD_KINDS}

Inputs = Annotated[
    list[Path],
    typer.Argument(help="A project file (.toml), or one file of records for each source (CSV, TSV, Parquet)."),
]
Ties = Annotated[
    list[Path] | None,
    typer.Option("--ties", help="A file of ties for each file of records, in the same order ('-' for none)."),
]
Ignored = Annotated[list[str] | None, typer.Option("--ignore", help="A column not to use.")]
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
    ignore: Ignored = None,
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
    **kinds: list[str] | None,
) -> Project:
    """Make a project of the command line's arguments, or read the project file that they name."""
    from tielink.project import Project

    given = [ties, ignore, anchors, nonmatches, truth, id_column, directed, missing, encoding, *kinds.values()]
    if len(inputs) == 1 and inputs[0].suffix.lower() == ".toml":
        if any(value is not None for value in given) or drop_faulty_ties:
            faults.error(str(inputs[0]), "a project file says everything about the data.", "Put the options into it.")
        return Project.read(inputs[0], faults)
    known = {"anchors": anchors, "nonmatches": nonmatches, "truth": truth}
    fields = _fields({kind: names or [] for kind, names in kinds.items()}, ignore or [])
    sources = _sources(
        inputs, ties or [], fields, known, id_column, directed, drop_faulty_ties, missing or [], encoding or "utf-8"
    )
    sources.ignore, sources.guess = ignore or [], fields is not None
    return Project(sources)


def takes_data(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command `(project, faults, …its own options)` the arguments by which all commands take data."""
    data = _parameters(project_from)
    del data["faults"], data["kinds"]
    data |= {kind: _kind_option(kind, help_text) for kind, help_text in KINDS.items()}
    own = dict(list(_parameters(command).items())[2:])

    def run(**arguments: Any) -> None:
        faults = Faults()
        given = {name: arguments.pop(name) for name in data if name in arguments}
        command(project_from(**given, faults=faults), faults, **arguments)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = Signature([*data.values(), *own.values()])  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in (data | own).items()}
    return run


_LAZY: dict[str, Any] = dict.fromkeys(("Project", "Sources", "Field", "Directed"), object)
"""Names in annotations that are not imported here, so that help texts come quickly."""


def _parameters(function: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the parameters of a function with their annotations resolved."""
    hints = get_type_hints(function, include_extras=True, localns=_LAZY)
    return {
        name: parameter.replace(annotation=hints[name], kind=Parameter.POSITIONAL_OR_KEYWORD)
        for name, parameter in signature(function).parameters.items()
    }


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


def _kind_option(kind: str, help_text: str) -> Parameter:
    option = typer.Option(f"--{kind.replace('_', '-')}", help=help_text)
    return Parameter(
        kind, Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=Annotated[list[str] | None, option]
    )


def _fields(kinds: dict[str, list[str]], ignore: list[str]) -> dict[str, Field] | None:
    """Declare the fields that the options name; None when they name none. Columns not named are guessed."""
    faults = Faults()
    named = [(name, kind) for kind, names in [*kinds.items(), ("ignore", ignore)] for name in dict.fromkeys(names)]
    for name in sorted({name for name, _ in named}):
        options = [f"--{kind}" for other, kind in named if other == name]
        if len(options) > 1:
            faults.error(" and ".join(options), f"name {name!r}.", "Say one of them.")
    faults.raise_errors()
    classes = {cls.kind: cls for cls in FIELD_KINDS}
    return {name: classes[kind]() for name, kind in named if kind in classes} or None


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
    paths: dict[str, Any] = {key: None if path is None else str(path) for key, path in known.items()}
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
        duplicates=False,
        **paths,
    )


def _names(inputs: list[Path]) -> list[str]:
    """Name each file by its stem, with its folder where stems repeat, numbered where that repeats too."""
    stems = [path.stem for path in inputs]
    names = [f"{path.parent.name}_{path.stem}" if stems.count(path.stem) > 1 else path.stem for path in inputs]
    return [f"{name}_{place + 1}" if names.count(name) > 1 else name for place, name in enumerate(names)]
