"""`tielink review`: ask a person about the links that matter most, on a page on this machine."""

from __future__ import annotations

import getpass
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tielink.faults import Fault, Faults, InputError, refuse

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.data.linkage import Linkage
    from tielink.posterior.posterior import Posterior
    from tielink.project import Project

__all__ = ["ResultFolder", "open_result", "review"]

ResultFolder = Annotated[Path, typer.Argument(help="The folder that tielink link wrote.")]


def review(
    folder: ResultFolder,
    answers: Annotated[
        Path | None, typer.Option("--answers", help="The file of your answers. [default: answers.csv in the folder]")
    ] = None,
    also: Annotated[list[Path] | None, typer.Option("--also", help="Answers of others. Repeatable.")] = None,
    who: Annotated[str | None, typer.Option("--who", help="Your name, for the file. [default: your login]")] = None,
    part: Annotated[str, typer.Option("--part", help="Your part of the records: 1/3 is the first of three.")] = "1/1",
    port: Annotated[int, typer.Option(help="The port to listen on. [default: any that is free]", min=0, max=65535)] = 0,
    open_page: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
) -> None:
    """Answer questions about the links that matter most; or audit the linkage.

    Example: tielink review result. Answers are kept in result/answers.csv; afterwards, tielink update result
    --answers result/answers.csv --out better takes them in.
    """
    match = re.fullmatch(r"(\d{1,4})/(\d{1,4})", part)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        refuse("--part", f"is {part!r}.", "Write 1/3, 2/3 or 3/3 for parts of three.")
    try:
        from tielink.review.server import Server
    except ImportError:
        what = "needs Starlette and uvicorn, which are not installed."
        raise InputError([Fault("tielink review", what, "Install them: pip install 'tielink[review]'.")]) from None
    import webbrowser

    from tielink.cli.show import console
    from tielink.report.result import Result
    from tielink.review.session import Session

    project, dataset, posterior, truth = open_result(folder)
    path = folder / "answers.csv" if answers is None else answers
    name = getpass.getuser() if who is None else who
    with console.status("Finding out what to ask …"):
        session = Session(
            dataset, posterior, path, who=name, others=also or [], part=(int(match[1]), int(match[2])),
            again=lambda settled: _again(posterior, dataset, settled),
        )  # fmt: skip
    before = session.audit()
    server = Server(session, port)
    console.print(f"Review as {name!r}; answers go to {path}.", markup=False, soft_wrap=True)
    console.print(f"Open {server.address}\nStop with Ctrl-C.", markup=False, soft_wrap=True)
    if open_page:
        webbrowser.open(server.address)
    server.run()
    count = len(session.answers)
    console.print(f"\nAnswers in {path}: {count:,}. Take them in:", markup=False, soft_wrap=True)
    console.print(f"  tielink update {folder} --answers {path} --out better", markup=False, soft_wrap=True)
    if session.audit().questions > before.questions:
        with console.status("Writing the audit into the report …"):
            result = Result.of(posterior, dataset, project=project, truth=truth, audit=session.audit())
            result.report(folder / "report.html")
        console.print(f"{session.audit()}\nIt is in {folder / 'report.html'}.", markup=False, soft_wrap=True)


def _again(posterior: Posterior, dataset: Dataset, settled: Any) -> Posterior:
    from tielink.run.again import update

    draws = max(100, posterior.draws_per_chain // 4)
    return update(posterior, dataset, answers=settled, draws=draws, progress=False)


def open_result(folder: Path) -> tuple[Project, Dataset, Posterior, Linkage | None]:
    """Read a result's folder: its project, the data that this names, the draws, and the truth if there is one."""
    from tielink.cli.inputs import read_data
    from tielink.posterior.posterior import Posterior
    from tielink.project import Project

    faults = Faults("project file")
    for name in ("posterior.nc", "project.toml"):
        if not (folder / name).is_file():
            faults.error(str(folder / name), "there is no such file.", "Name the folder that tielink link wrote.")
    faults.raise_errors()
    # The folder is the user's own, and its project names the files that were linked, wherever they are.
    project = Project.read(folder / "project.toml", faults, allow_outside=True)
    dataset, truth = read_data(project, faults)
    posterior = Posterior.load(folder / "posterior.nc")
    if posterior.records != dataset.records:
        what = "holds draws of other records than the data have now."
        refuse(str(folder), what, "Link again, or take the new records in: tielink update.")
    return project, dataset, posterior, truth
