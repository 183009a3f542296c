"""The code in README.md and docs/ runs."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# There when the site has been built, and checked then; or on the forge.
ELSEWHERE = ("gallery/", "reference/", "/actions/workflows/")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#([^)]*))?\)")


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_code_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page.stem}  # the blocks of a page follow one another
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    for number, block in enumerate(blocks(page)):
        where = f"{page.name}, block {number + 1}"
        if block.lstrip().startswith(">>>"):
            example = doctest.DocTestParser().get_doctest(block, names, where, str(page), 0)
            result = doctest.DocTestRunner(optionflags=flags).run(example, clear_globs=False)
            names = example.globs
            assert result.failed == 0, where
        else:
            exec(compile(block, where, "exec"), names)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target or any(part in target for part in ELSEWHERE):
            continue
        file = page.parent / target
        assert file.exists(), f"{page.name} links to {target}"
        if anchor:
            titles = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles]
