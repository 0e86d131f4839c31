"""The arguments by which every command takes data: a project file, or files and what they mean."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_type_hints

import typer

from tielink.cli.worded import read_worded
from tielink.faults import Faults, InputError, listed, nearest
from tielink.fields import FIELD_KINDS

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.data.linkage import Linkage
    from tielink.data.sources import Sources
    from tielink.data.ties import Directed
    from tielink.fields import Field
    from tielink.project import Project

__all__ = ["AllowOutside", "AnswerFiles", "read_data", "takes_data"]

TRIED = 40
"""Texts of a field on which a model is tried before the work begins."""

KINDS = {kind.kind: f"A column that is {kind.example}." for kind in FIELD_KINDS}

Inputs = Annotated[
    list[Path],
    typer.Argument(
        help="A project file (.toml), or one file of records for each source: CSV, TSV, Parquet, file.xlsx#sheet, "
        "base.duckdb::table, base.sqlite::table."
    ),
]
Ties = Annotated[
    list[Path] | None,
    typer.Option("--ties", help="A file of ties for each file of records, in the same order ('-' for none)."),
]
Ignored = Annotated[list[str] | None, typer.Option("--ignore", help="A column not to use.")]
Same = Annotated[
    list[str] | None,
    typer.Option("--same", help="Columns that mean the same by different names: vorname=firstname. Repeatable."),
]
Anchors = Annotated[
    list[Path] | None,
    typer.Option(
        "--anchors",
        help="Known matches: columns id_a, id_b; with a column answer (same, different, unsure) also known "
        "non-matches. Repeatable.",
    ),
]
Nonmatches = Annotated[
    list[Path] | None, typer.Option("--nonmatches", help="Known non-matches: columns id_a, id_b. Repeatable.")
]
AnswerFiles = Annotated[
    list[Path] | None,
    typer.Option("--answers", help="What people answered in tielink review: answers.csv. Repeatable."),
]
Truth = Annotated[Path | None, typer.Option("--truth", help="The true matches, for scoring only.")]
IdColumn = Annotated[str | None, typer.Option("--id", help="The id column. [default: id, or the first column]")]
DirectedTies = Annotated[
    str | None,
    typer.Option("--directed", help="For directed ties: 'any' keeps all, 'mutual' those listed both ways."),
]
DropFaultyTies = Annotated[
    bool, typer.Option("--drop-faulty-ties", help="Leave out and count self-ties, copies and unknown ids.")
]
AllowOutside = Annotated[
    bool, typer.Option("--allow-outside", help="Let a project file read files outside its folder.")
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        help="A text that means a missing value, besides NA, null, - and the like; '' for empty cells only.",
    ),
]
Encoding = Annotated[
    list[str] | None,
    typer.Option("--encoding", help="How text files are encoded: cp1252, or FILE=cp1252 for one. [default: utf-8]"),
]
Prior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        help="Prior of who is whom: match_rate, uniform, one_per_file, ewens_pitman or negative_binomial, with "
        "settings: match_rate:a=2,b=5. [default: by the number of files]",
    ),
]


def project_from(
    inputs: Inputs,
    ties: Ties = None,
    ignore: Ignored = None,
    anchors: Anchors = None,
    nonmatches: Nonmatches = None,
    answers: AnswerFiles = None,
    truth: Truth = None,
    id_column: IdColumn = None,
    directed: DirectedTies = None,
    drop_faulty_ties: DropFaultyTies = False,
    missing: Missing = None,
    encoding: Encoding = None,
    same: Same = None,
    prior: Prior = None,
    allow_outside: AllowOutside = False,
    *,
    faults: Faults,
    **kinds: list[str] | None,
) -> Project:
    """Make a project of the command line's arguments, or read the project file that they name."""
    from tielink.model.spec import EVERY_LINKAGE_PRIOR
    from tielink.project import Project

    given = [ties, ignore, anchors, nonmatches, truth, id_column, directed, missing, encoding, same, *kinds.values()]
    if len(inputs) == 1 and inputs[0].suffix.lower() == ".toml":
        if any(value is not None for value in given) or drop_faulty_ties:
            faults.error(str(inputs[0]), "a project file says everything about the data.", "Put the options into it.")
        faults.caller = "project file"
        project = Project.read(inputs[0], faults, allow_outside=allow_outside)
        # Beside those that it names: answers come after a first run.
        here = [os.path.relpath(path, project.sources.folder) for path in answers or []]
        project.sources.answers = list(dict.fromkeys([*project.sources.answers, *here]))
    else:
        fields = _fields({kind: names or [] for kind, names in kinds.items()}, ignore or [], faults)
        sources = _sources(inputs, ties or [], id_column, directed, encoding or [], faults)
        sources.anchors, sources.nonmatches = (list(map(str, paths or [])) for paths in (anchors, nonmatches))
        sources.answers = list(map(str, answers or []))
        sources.truth = None if truth is None else str(truth)
        sources.faulty_ties = "drop" if drop_faulty_ties else "refuse"
        sources.fields, sources.guess, sources.ignore = fields, fields is not None, ignore or []
        sources.missing, sources.same = missing, _same(same or [], faults)
        project = Project(sources)
    if prior is not None:
        found = read_worded(prior, EVERY_LINKAGE_PRIOR, "--prior", faults)
        project = replace(project, model=replace(project.model, linkage=found))
        project.sources.duplicates |= found is not None and found.allowed == "free"
    return project


def _same(given: list[str], faults: Faults) -> dict[str, str | list[str]]:
    """Read `vorname=firstname`, or `vorname=firstname=given` for three files."""
    same: dict[str, list[str]] = {}
    for text in given:
        name, *others = (part.strip() for part in text.split("="))
        if not others or not all([name, *others]):
            faults.error("--same", f"is {text!r}.", "Write the two names of the column: --same vorname=firstname.")
        same.setdefault(name, []).extend(others)
    return dict(same)


def takes_data(
    command: Callable[..., None], name: str = "", help_text: str = "", files: Literal["one", "several", "any"] = "any"
) -> Callable[..., None]:
    """Give a command `(project, faults, …its own options)` the arguments by which all commands take data.

    It may have another name and help text than the function's, and be for one file or for several.
    """
    data = _parameters(project_from)
    del data["faults"], data["kinds"]
    data |= {kind: _kind_option(kind, help_text) for kind, help_text in KINDS.items()}
    own = dict(list(_parameters(command).items())[2:])

    def run(**arguments: Any) -> None:
        faults = Faults("command line")
        given = {name: arguments.pop(name) for name in data if name in arguments}
        project = project_from(**given, faults=faults)
        _check_files(list(project.sources.records.values()), files, faults)
        command(project, faults, **arguments)

    run.__name__, run.__doc__ = name or command.__name__, help_text or command.__doc__
    run.__signature__ = Signature([*data.values(), *own.values()])  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in (data | own).items()}
    return run


def _check_files(given: list[str], wanted: str, faults: Faults) -> None:
    """Point from `link` to `dedupe` and back where the number of files is the other's."""
    if wanted == "several" and len(given) == 1:
        what = "one file is given, and links are between files."
        faults.error("link", what, f"To find duplicates in it: tielink dedupe {given[0]}")
    if wanted == "one" and len(given) > 1:
        what = f"{len(given)} files are given, and this is for duplicates in one."
        do = f"Use tielink link {' '.join(given)}; if files hold duplicates inside as well, add --prior ewens_pitman"
        faults.error("dedupe", what, do)


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
                # Its longest texts tell in seconds whether a field suits the model; all are compiled when work begins.
                tried = {name: column.longest(TRIED) for name, column in dataset.columns.items()}
                problem = Problem.compile(project.model, replace(dataset, columns=tried))
                if not problem.fields and problem.network is None:
                    what = f"there is nothing to link by: no column is used ({listed(dataset.unused, 8)}), and no ties."
                    do = f"Say what a column means ({faults.declaration('surname', 'string')}), or give ties."
                    faults.error("columns", what, do)
            except InputError as error:
                faults.extend(error.faults)
    faults.raise_errors()
    return dataset, truth


def _kind_option(kind: str, help_text: str) -> Parameter:
    option = typer.Option(f"--{kind.replace('_', '-')}", help=help_text)
    return Parameter(
        kind, Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=Annotated[list[str] | None, option]
    )


def _fields(kinds: dict[str, list[str]], ignore: list[str], faults: Faults) -> dict[str, Field] | None:
    """Declare the fields that the options name (`born`, `born:format=%Y`); None when they name none."""
    named = [(text, kind) for kind, texts in [*kinds.items(), ("ignore", ignore)] for text in dict.fromkeys(texts)]
    options: dict[str, list[str]] = {}
    fields: dict[str, Field] = {}
    for text, kind in named:
        name, _, settings = text.partition(":") if "=" in text else (text, "", "")
        options.setdefault(name, []).append(f"--{kind.replace('_', '-')}")
        field = None if kind == "ignore" else read_worded(f"{kind}:{settings}", FIELD_KINDS, f"field {name!r}", faults)
        fields |= {} if field is None else {name: field}
    for name, said in options.items():
        if len(said) > 1:
            faults.error(" and ".join(said), f"name {name!r}.", "Say one of them.")
    faults.raise_errors()
    return fields or None


def _sources(
    inputs: list[Path],
    ties: list[Path],
    id_column: str | None,
    directed: str | None,
    encoding: list[str],
    faults: Faults,
) -> Sources:
    from tielink.data.sources import Sources

    names = _names(inputs)
    encodings = {name: code for name, _, code in (text.rpartition("=") for text in encoding)}
    for name in encodings.keys() - {"", *names}:
        faults.error("--encoding", f"names {name!r}, which is no file.", nearest(name, names))
    if ties and len(ties) != len(inputs):
        faults.error(
            "--ties",
            f"{len(ties)} given for {len(inputs)} files of records.",
            "Give one for each, in the same order, '-' where there is none.",
        )
    if directed not in (None, "any", "mutual"):
        faults.error("--directed", f"is {directed!r}.", "Give 'any' or 'mutual'.")
    faults.raise_errors()
    return Sources(
        folder=Path(),
        records=dict(zip(names, map(str, inputs), strict=True)),
        ties={name: str(path) for name, path in zip(names, ties, strict=False) if str(path) != "-"},
        ids=dict.fromkeys(names, id_column) if id_column is not None else {},
        directed=dict.fromkeys(names, cast("Directed", directed)) if directed else {},
        encoding=encodings.pop("", "utf-8"),
        encodings=encodings,
    )


def _names(inputs: list[Path]) -> list[str]:
    """Name each file by its stem (or the table in it), with its folder where these repeat, or else numbered."""
    from tielink.data.databases import split_inside

    stems = [inside or file.stem for file, inside in map(split_inside, inputs)]
    names = [
        f"{path.parent.name}_{stem}" if stems.count(stem) > 1 else stem
        for path, stem in zip(inputs, stems, strict=True)
    ]
    names = [f"{name}_{place + 1}" if names.count(name) > 1 else name for place, name in enumerate(names)]
    return names if len(set(names)) == len(names) else [f"file_{place + 1}" for place in range(len(names))]
