"""Run the `tielink` command as a user would, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys


def run(*arguments, cwd=None):
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
