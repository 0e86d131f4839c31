"""The page."""

from pathlib import Path
from typing import Any


def write_page(result: Any, path: Path) -> Path:
    """Write."""
    path.write_text("<p>")
    return path
