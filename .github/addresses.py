"""Make the README's links absolute and name the repository, in the current folder: python addresses.py ADDRESS.

Relative links lead somewhere on a forge and in a checkout, but nowhere on a package index; the address is known only
where the archives are built.
"""

import re
import sys
from pathlib import Path


def absolute(target: str, address: str) -> str:
    """Return where a relative link leads: pages and images of the main branch, and what the forge itself shows."""
    if target.startswith("../../"):
        return f"{address}/{target.removeprefix('../../')}"
    return f"{address}/{'raw' if target.endswith('.png') else 'blob'}/main/{target}"


def main(address: str) -> None:
    """Rewrite README.md and pyproject.toml."""
    readme, project = Path("README.md"), Path("pyproject.toml")
    text = readme.read_text(encoding="utf-8")
    text = re.sub(r"\]\((?!\w+:)([^)]+)\)", lambda link: f"]({absolute(link[1], address)})", text)
    readme.write_text(text, encoding="utf-8")
    with project.open("a", encoding="utf-8") as lines:
        lines.write(f'\n[project.urls]\nRepository = "{address}"\n')


if __name__ == "__main__":
    main(sys.argv[1].rstrip("/"))
