"""The `tielink` command, which hears a Ctrl-C from the very beginning."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any


def _hear_again(unraisable: Any) -> None:
    """Repeat a Ctrl-C that came where Python cannot raise it, as in a callback of the compiler, and would be lost."""
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(unraisable)


def main() -> None:
    """Load the command line and run it; being told to end is answered as a Ctrl-C is."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.unraisablehook = _hear_again
    try:
        from tielink.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("tielink: stopped before the work began; nothing was written.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
