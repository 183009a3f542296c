"""The checker as a module, and what tests of it share."""

import importlib.util
import json
import sys
from pathlib import Path

from fantope.io.certificates import write_sealed
from fantope.io.fingerprint import checksum

PROGRAM = Path(__file__).parents[1] / "checker" / "fantope_check.py"


def _load():
    sys.path.insert(0, str(PROGRAM.parent))  # as for a program that is run: what lies beside it
    spec = importlib.util.spec_from_file_location("fantope_check", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


checker = _load()


def reseal(folder):
    """Make all checksums those of the files, as somebody would who knows the format."""
    certificate, run = (json.loads((folder / name).read_text()) for name in ("certificate.json", "run.json"))
    for claim in certificate["solutions"]:
        for name in ("X", "U"):
            claim[name]["sha256"] = checksum(folder / claim["folder"] / claim[name]["file"])
    for matrix in certificate["matrices"]:
        if matrix["stored"]:
            matrix["sha256"] = checksum(folder / matrix["file"])
    write_sealed(folder / "certificate.json", certificate)
    run["files"] = {name: checksum(folder / name) for name in run["files"] if (folder / name).exists()}
    write_sealed(folder / "run.json", run)
