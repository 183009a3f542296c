"""The report in a real browser: what a reader points at, types and presses."""

import shutil

import pytest

from coexpression_example import SCRIPT, equal_groups, two_groups
from fantope.coexpression.report import About, write_report

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine"),
]
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
]  # fmt: skip
ABOUT = About("expression.tsv", "fantope coexpress expression.tsv -o out", "1 January 2030")


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    write_report(two_groups(), ABOUT, file)
    return file


@pytest.fixture
def opened(browser, file):
    """Open the report; whatever the console or the network sees is an error."""
    pages = []

    def open_page(path=file, **options):
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        page = context.new_page()
        page.seen = []
        page.on("console", lambda message: page.seen.append(message.text))
        page.on("pageerror", lambda error: page.seen.append(str(error)))
        page.on(
            "request", lambda request: page.seen.append(request.url) if not request.url.startswith("file:") else None
        )
        page.goto(path.as_uri())
        pages.append((context, page))
        return page

    yield open_page
    for context, page in pages:
        assert page.seen == []
        context.close()


@pytest.fixture
def page(opened):
    return opened()


def test_names_with_markup_do_not_run(page):
    assert page.title() == "Co-expression in expression.tsv"
    assert page.locator("#genes td", has_text=SCRIPT).count() == 2
    assert page.evaluate("document.querySelectorAll('script').length") == 2


def cell(page, row, column):
    """Return where a cell of the first heat map is on the screen."""
    canvas = page.locator("[data-heat=modules] canvas").first
    canvas.scroll_into_view_if_needed()
    frame = canvas.bounding_box()
    m = len(two_groups().groups["control"].genes)
    side = min(560, frame["width"] - 26 - 28 - max(110, min(150, frame["width"] * 0.16)))
    return frame["x"] + 26 + (column + 0.5) * side / m, frame["y"] + 26 + (row + 0.5) * side / m


def test_pointing_at_a_cell_names_both_genes(page):
    genes = page.evaluate("JSON.parse(document.getElementById('data').textContent).modules[0].genes")
    R = two_groups().groups["control"].correlation(two_groups().groups["control"].genes.set_index("gene").index)
    page.mouse.move(*cell(page, 1, 20))
    told = page.locator("[data-heat=modules] .readout").first.inner_text()
    assert genes[1] in told and genes[20] in told
    assert f"{R.loc[genes[1], genes[20]]:.2f}".replace("-", "−")[:4] in told
    assert page.locator("#tip").inner_text() == told
    page.mouse.move(5, 5)
    assert page.locator("#tip").is_hidden()


def test_arrow_keys_move_a_cursor_that_is_read_out(page):
    canvas = page.locator("[data-heat=modules] canvas").first
    genes = page.evaluate("JSON.parse(document.getElementById('data').textContent).modules[0].genes")
    readout = page.locator("[data-heat=modules] .readout").first
    assert readout.get_attribute("aria-live") == "polite"
    canvas.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Shift+ArrowRight"):
        canvas.press(key)
    column = 12 if page.evaluate("document.activeElement.matches(':focus-visible')") else 11
    told = readout.inner_text()
    assert told.startswith(genes[2]) and f"and {genes[column]} (" in told
    canvas.press("End")
    assert f"and {genes[-1]} (" in readout.inner_text()
    canvas.press("Escape")
    assert readout.inner_text() == ""


def test_two_groups_are_read_out_together(page):
    canvas = page.locator("[data-heat=pairs] canvas")
    canvas.focus()
    canvas.press("ArrowRight")
    told = page.locator("[data-heat=pairs] .readout").inner_text()
    assert " in control, " in told and told.endswith(" in case.")


def test_columns_sort_both_ways(page):
    heading = page.locator("#genes th", has_text="kME")
    column = page.locator("#genes th").all_inner_texts().index(heading.inner_text())

    def values():
        texts = page.locator(f"#genes tbody td:nth-child({column + 1})").all_inner_texts()
        return [float(text.replace("−", "-")) for text in texts]

    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert values() == sorted(values(), reverse=True)
    heading.get_by_role("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    assert values() == sorted(values())
    names = page.locator("#genes th", has_text="gene").first
    names.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") is None and names.get_attribute("aria-sort") == "ascending"
    found = [text for text in page.locator("#genes tbody td:first-child").all_inner_texts() if text.startswith("G")]
    assert found == sorted(found, key=lambda text: int(text[1:]))


def test_search_hides_what_does_not_match(page):
    whole = page.locator("#genes tbody tr").count()
    page.get_by_label("Search genes, modules or groups").fill("case g3")
    shown = page.locator("#genes tbody tr:visible")
    texts = shown.all_inner_texts()
    assert 0 < len(texts) < whole and all("case" in text and "G3" in text for text in texts)
    assert page.locator("[data-matches=genes]").inner_text() == f"{len(texts)} of {whole}"
    page.get_by_label("Search genes, modules or groups").fill("")
    assert shown.count() == whole


def test_the_slider_steps_through_the_path(page):
    result = two_groups()
    slider = page.get_by_label("Step through the path")
    value, state = page.locator("#alpha-value"), page.locator("#alpha-state")
    assert value.inner_text() == f"{result.alpha:g}" and "This is the chosen alpha." in state.inner_text()
    slider.press("Home")
    smallest = result.selection.sort_values("alpha").iloc[0]
    assert value.inner_text() == f"{smallest['alpha']:g}"
    assert f"control: {smallest['n_control']} active genes" in state.inner_text()
    assert slider.get_attribute("aria-valuetext") == f"alpha {smallest['alpha']:g}"
    slider.press("End")
    assert "In use already at the largest alpha:" in state.inner_text()
    slider.press("ArrowLeft")
    assert "Enter (" in state.inner_text()
    assert page.locator("#selection-table tr.current").count() == 1


def test_a_point_of_the_volcano_tells_its_gene(page):
    point = page.locator("[data-chart=volcano] circle").first
    point.scroll_into_view_if_needed()
    point.hover()
    pair = two_groups().differential[0]
    assert page.locator("#tip").inner_text().split(":")[0] in set(pair.genes["gene"])


def test_everything_can_be_reached_with_the_keyboard(page):
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the report"
    reached = set()
    for _ in range(150):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
        width = page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth) || 0")
        assert width >= 1 or page.evaluate("document.activeElement === document.body")
    assert {"A", "INPUT", "CANVAS", "BUTTON", "SUMMARY"} <= reached


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(opened, scheme):
    page = opened(color_scheme=scheme)
    ratio = page.evaluate("""() => {
      const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
      const channels = (colour) => {
        paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1);
        return [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255)
          .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      };
      const light = (colour) => { const [r, g, b] = channels(colour); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const style = getComputedStyle(document.documentElement);
      const paper = light(style.getPropertyValue('--paper').trim());
      return ['--ink', '--quiet', '--accent'].map((name) => {
        const ink = light(style.getPropertyValue(name).trim());
        return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
      });
    }""")
    assert min(ratio) >= 4.5


def test_a_narrow_window_does_not_scroll_sideways(opened):
    page = opened(viewport={"width": 400, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.set_viewport_size({"width": 900, "height": 800})
    page.wait_for_timeout(200)
    width = page.locator("[data-heat=modules] canvas").first.evaluate("c => [c.width, 2 * c.clientWidth]")
    assert abs(width[0] - width[1]) <= 2


def test_printing_opens_what_is_folded_and_closes_it_again(page):
    document = page.pdf(format="A4")
    assert document.startswith(b"%PDF") and len(document) > 50_000
    # Chromium sends these events from its dialogue, not from pdf().
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("[...document.querySelectorAll('details')].every((part) => part.open)")
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("[...document.querySelectorAll('details')].every((part) => !part.open)")


def test_a_report_without_differences_opens_as_well(opened, tmp_path):
    write_report(equal_groups(), ABOUT, tmp_path / "calm.html")
    assert "No difference" in opened(tmp_path / "calm.html").locator(".verdict").inner_text()
