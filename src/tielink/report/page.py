"""The report: one HTML file with its styles, scripts and data inside, and nothing fetched from anywhere."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from pathlib import Path
from typing import Any

from tielink.faults import listed
from tielink.files import write_whole
from tielink.posterior.score import Score
from tielink.report.content import diagnosis_rows, page_content
from tielink.report.result import Result
from tielink.report.words import methods, roughness, verdict

__all__ = ["page", "script_json", "write_page"]

SCRIPTS = ("shapes.js", "charts.js", "maps.js", "table.js", "marks.js", "weighing.js", "start.js")


def script_json(value: Any) -> str:
    r"""Write JSON that is safe inside a script element, whatever texts it holds.

    >>> script_json(["</script>", "a&b"])
    '["\\u003c/script\\u003e","a\\u0026b"]'
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # A lone half of a surrogate pair cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def page(result: Result) -> str:
    """Return the report as HTML."""
    from jinja2 import Environment
    from markupsafe import Markup

    folder = files("tielink.report") / "assets"
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(
        (folder / "page.html").read_text(encoding="utf-8")
    )
    content = page_content(result)
    decided, persons = result.decided, result.posterior.persons()
    words = verdict(result)
    scores = None
    if result.evaluation is not None:
        found = result.evaluation.without_anchors
        scores = {name: _tile(getattr(found, name.lower())) for name in ("recall", "precision", "F1")}
    return template.render(
        title=listed(result.dataset.files, 4),
        verdict=words,
        rough=roughness(result) if result.quick else "",
        interrupted=result.interrupted,
        said=[fault for fault in result.dataset.said if fault.severity == "warning"],
        notes=result.diagnosis.warnings,
        converged=result.diagnosis.converged,
        links=int((decided.linked & ~decided.known).sum()),
        known=int(decided.known.sum()),
        look=int(decided.review.sum()),
        persons=persons,
        scores=scores,
        audit=None if result.audit is None or not result.audit.questions else str(result.audit),
        evaluation=None if result.evaluation is None else str(result.evaluation).splitlines(),
        diagnosis=diagnosis_rows(result),
        methods=methods(result),
        content=content,
        calibrated=content["calibration"] is not None,
        style=Markup((folder / "page.css").read_text(encoding="utf-8")),
        script=Markup("\n".join((folder / name).read_text(encoding="utf-8") for name in SCRIPTS)),
        data=Markup(script_json(content)),
    )


def _tile(score: Score) -> tuple[str, str]:
    """Return a score as a number and what stands below it."""
    number, _, rest = str(score).partition(" ")
    return ("–", "not defined") if math.isnan(score) else (number, rest)


def write_page(result: Result, path: Path) -> Path:
    """Write the report whole or not at all."""
    content = page(result).encode("utf-8", errors="replace")
    write_whole(path, lambda file: file.write(content))
    return path
