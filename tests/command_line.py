"""The `tielink` command as a user meets it: in a process of its own, or, much quicker, in this one."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace

import pytest


def run(*arguments, cwd=None):
    """Run the command in a process of its own."""
    environment = os.environ | {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-c", "from tielink.cli import main; main()", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=cwd,
        env=environment,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def call(*arguments, cwd="."):
    """Run the command in this process, which has loaded everything; for commands that do not sample."""
    from tielink.cli import main, show

    stdout, stderr = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(stdout), redirect_stderr(stderr):
        patch.chdir(cwd)
        patch.setattr(sys, "argv", ["tielink", *map(str, arguments)])
        show.console.width = show.errors.width = 200
        with pytest.raises(SystemExit) as ended:
            main()
    return SimpleNamespace(returncode=ended.value.code or 0, stdout=stdout.getvalue(), stderr=stderr.getvalue())
