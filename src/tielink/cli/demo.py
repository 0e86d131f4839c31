"""`tielink demo`: the shipped example, end to end."""

from __future__ import annotations

from importlib.resources import as_file, files

__all__ = ["demo"]


def demo() -> None:
    """Check the shipped example: accounts on two made-up networks, with usernames, places and ties."""
    from tielink.cli.check import check
    from tielink.cli.show import console

    with as_file(files("tielink") / "example") as folder:
        path = folder / "project.toml"
        console.print(f"The example project: {path}\n", markup=False, soft_wrap=True)
        check(inputs=[path])
