"""Turn what `make test-long` printed into the page that records it: `python record.py < output > README.md`."""

from __future__ import annotations

import re
import subprocess
import sys

HEAD = """# The long statistical tests: last result

Written by `make test-long`. Every move and both samplers, against exact quadrature on all 34 matchings of 3 + 3 records
(Hotelling's test of batch frequencies; a test fails below p = 1e-4), on replicates drawn from the prior (the largest
standardised change of fifteen statistics; the bound is 4.50), and with planted errors that must be caught (p below
1e-6, or a change above 6).

"""


def main() -> None:
    """Write the page."""
    text = sys.stdin.read()
    lines = sorted({line.strip() for line in text.splitlines() if re.search(r"(p = |largest \|z\|)", line)})
    closing = [line.strip("= ") for line in text.splitlines() if re.search(r"\d+ (passed|failed)", line)]
    rows = [line.rpartition(": ") for line in lines]
    table = "\n".join(f"| {what} | {found.replace('|', chr(92) + '|')} |" for what, _, found in rows)
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    result = f"{closing[-1] if closing else 'no result'}, at commit {commit or 'unknown'}"
    sys.stdout.write(f"{HEAD}**{result}**\n\n| test | result |\n|---|---|\n{table}\n")


if __name__ == "__main__":
    main()
