"""The site: it builds without a warning, every example runs and has its picture, and a reader finds things in it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PHONE = {"width": 375, "height": 700}


def test_every_example_has_its_place_in_the_gallery():
    assert (ROOT / "examples" / "ORDER").read_text(encoding="utf-8").split() == sorted(
        (file.name for file in EXAMPLES), key=(ROOT / "examples" / "ORDER").read_text(encoding="utf-8").split().index
    )
    assert len(EXAMPLES) >= 15


def build(folder):
    """Build the site from a copy, so that the source stays as it is."""
    for name in ("docs", "examples"):
        ignored = shutil.ignore_patterns("gallery", "reference", "__pycache__")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder / name)
    site = folder / "site"
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-W",
        "--keep-going",
        "-d",
        folder / "trees",
        folder / "docs",
        site,
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"MPLBACKEND": "agg"})
    assert done.returncode == 0, done.stderr[-4000:]
    return site


# One test: what it needs first is the site, which takes half a minute.
@pytest.mark.slow
def test_the_site_builds_and_works_in_a_browser(tmp_path):
    pytest.importorskip("sphinx", reason="the extra fantope[docs] is not installed")
    site = build(tmp_path)
    for file in EXAMPLES:
        page = (site / "gallery" / f"{file.stem}.html").read_text(encoding="utf-8")
        pictures = re.findall(rf'src="(\.\./_images/sphx_glr_{file.stem}_\d+\.png)"', page)
        assert pictures and (site / "gallery" / pictures[0]).stat().st_size > 2_000, file.name
    pages = {file.stem for file in (site / "reference" / "api").glob("*.html")}
    assert {"fantope.solve", "fantope.SparsePCA", "fantope.plotting.ScreeDisplay", "fantope.tl.sparse_pca"} <= pages
    if CHROMIUM is None:
        pytest.skip("the site was built, but there is no chromium on this machine to open it with")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            search_finds(browser, site, {"width": 1280, "height": 900})
            search_finds(browser, site, PHONE)
            fits_a_phone(browser, site)
            follows_the_readers_colours(browser, site)
        finally:
            browser.close()


def opened(browser, file, **options):
    """Open a page; it must fetch nothing from elsewhere, and no script may fail."""
    page = browser.new_context(**options).new_page()
    seen = []
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(("file:", "data:")) else seen.append(request.url))
    page.goto(file.as_uri())
    assert not seen, (file.name, seen)
    return page


def search_finds(browser, site, size):
    page = opened(browser, site / "index.html", viewport=size)
    page.locator("button.search-button:visible, button.search-button__button:visible").first.click()
    box = page.locator("input[type=search]:visible").first
    box.fill("alpha_max")
    box.press("Enter")
    page.wait_for_url("**/search.html**")
    page.locator("#search-results li a", has_text="alpha_max").first.click()
    assert "fantope.alpha_max" in page.title()


def fits_a_phone(browser, site):
    for name in ("index", "start", "choosing", "faq", "scale", "gallery/index", "reference/api/fantope.solve"):
        page = opened(browser, site / f"{name}.html", viewport=PHONE)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name


def follows_the_readers_colours(browser, site):
    for scheme, limit in (("light", range(200, 256)), ("dark", range(60))):
        page = opened(browser, site / "start.html", color_scheme=scheme)
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert all(int(value) in limit for value in re.findall(r"\d+", colour)[:3]), (scheme, colour)
