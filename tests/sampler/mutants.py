"""Planted errors: a kernel's source with one line changed, loaded as a module of its own.

The production kernels stay as they are; a change that no longer applies to the source is an error, not a silent pass.
"""

import importlib.util
import sys
from pathlib import Path

import tielink

PACKAGE = Path(tielink.__file__).parent


def mutant(folder, module, name, *changes):
    """Import `<module>.py` of the package, by its path, with every (old, new) replaced; each old text must occur.

    It is not kept in the cache of compiled kernels.
    """
    source = (PACKAGE / f"{module}.py").read_text().replace("tielink.kernels import njit", "numba import njit")
    source = source.replace("import entry_of, njit", "import entry_of\nfrom numba import njit")
    for old, new in changes:
        if old not in source:
            raise AssertionError(f"{module}.py no longer contains {old!r}: plant the error anew")
        source = source.replace(old, new)
    path = Path(folder) / f"mutant_{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = loaded
    spec.loader.exec_module(loaded)
    return loaded
