"""Where commands write: checked before the work, not after it."""

from __future__ import annotations

from pathlib import Path

from tielink.faults import Faults

__all__ = ["check_out"]


def check_out(out: Path) -> None:
    """Say before hours of work that their result could not be saved."""
    faults = Faults()
    if out.is_dir():
        faults.error(str(out), "is a folder.", "Name a file: posterior.nc.")
    elif not out.parent.is_dir():
        faults.error(str(out.parent), "there is no such folder.", "Make it, or name another.")
    else:
        probe = out.with_name(out.name + ".part")
        try:
            probe.touch()
            probe.unlink()
        except OSError as error:
            faults.error(str(out), f"cannot be written: {error.strerror}.", "Name a place that can.")
    faults.raise_errors()
