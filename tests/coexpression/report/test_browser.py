"""The report in a real browser: what a reader points at, types and presses."""

import io
import shutil
import struct
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from coexpression_example import ODD, SCRIPT, SETTINGS, equal_groups, expression, two_groups
from fantope.coexpression import analyse
from fantope.coexpression.analysis.modules import genes_in_use
from fantope.coexpression.report import About, write_report
from fantope.io.tables import original_name

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
    for group in result.groups.values():  # the path descends: its first solution has the largest alpha
        largest, next_one = (set(genes_in_use(solution)) for solution in group.path.solutions[:2])
        assert (f"Enter ({len(next_one - largest)})" if next_one - largest else "No gene enters") in state.inner_text()
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
    for _ in range(250):
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


def saved(page, press):
    """Return the name and the bytes of what a button gives."""
    with page.expect_download() as download:
        press.click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_a_table_comes_as_csv(page):
    page.get_by_label("Search genes, modules or groups").fill("control")
    wide = page.get_by_role("region", name="Active genes")
    name, content = saved(page, wide.locator("xpath=preceding-sibling::div[1]").get_by_role("button", name="CSV"))
    assert name == "active_genes.csv"
    table = pd.read_csv(io.BytesIO(content))
    genes = two_groups().groups["control"].genes
    assert set(table["group"]) == {"control"} and sorted(table["gene"]) == sorted(genes["gene"])
    merged = table.merge(genes, on="gene")
    np.testing.assert_allclose(merged["leverage_x"], merged["leverage_y"], rtol=1e-5)
    np.testing.assert_allclose(merged["C1"], merged["sparse1"], rtol=1e-5, atol=1e-12)


def test_a_spreadsheet_runs_nothing_of_a_csv(opened, tmp_path):
    names = {"G20": "=1+1", "G21": "@SUM(A1)", "G22": "-x", "G23": "[/x]", "G24": "'quoted", "G25": '"a", b'}
    table, groups = expression()
    result = analyse(table.rename(columns=names), groups, **{**SETTINGS, "permutations": 0})
    write_report(result, ABOUT, tmp_path / "odd.html")
    page = opened(tmp_path / "odd.html")
    wide = page.get_by_role("region", name="Active genes")
    content = saved(page, wide.locator("xpath=preceding-sibling::div[1]").get_by_role("button", name="CSV"))[1]
    genes = set(pd.read_csv(io.BytesIO(content), keep_default_na=False)["gene"])
    assert {"'=1+1", "'@SUM(A1)", "'-x", "[/x]", "''quoted", '"a", b', SCRIPT, ODD} <= genes
    assert {original_name(name) for name in genes} == set().union(*(g.genes["gene"] for g in result.groups.values()))
    for name in (*names.values(), SCRIPT, ODD):
        page.goto((tmp_path / "odd.html").as_uri() + f"#gene={quote(name, safe='')}")
        assert page.locator("#gene h2").inner_text() == name
        assert page.locator("#gene table").count() == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_figure_comes_as_svg_and_png(opened, scheme):
    page = opened(color_scheme=scheme)
    figures = page.locator("figure")
    names = set()
    for k in range(figures.count()):
        if k % 5 == 4:
            page.reload()  # a browser lets a page save only ten files in a row
        name, content = saved(page, figures.nth(k).get_by_role("button", name="SVG"))
        root = ElementTree.fromstring(content)
        names.add(name)
        assert root.tag == "{http://www.w3.org/2000/svg}svg" and root[0].tag.endswith("title")
        assert root[1].get("fill") == "#fff"  # light in either scheme
        assert b"var(" not in content and b"<script" not in content and b"class=" not in content
    assert len(names) == figures.count()
    assert {"selection.svg", "modules_case.svg", "comparison_control_case.svg", "network_case_m1.svg"} <= names
    page.reload()
    for kind in ("[data-heat=modules]", ".network", "[data-chart=volcano]"):
        figure = page.locator("figure", has=page.locator(kind)) if "chart" in kind else page.locator(f"figure{kind}")
        name, content = saved(page, figure.first.get_by_role("button", name="PNG"))
        assert name.endswith(".png") and content.startswith(b"\x89PNG")
        width, height = struct.unpack(">II", content[16:24])
        assert width >= 1000 and height >= 800 and len(content) > 10_000


def test_a_gene_is_found_by_its_name(page):
    result = two_groups()
    gene = result.groups["control"].genes.iloc[3]
    page.get_by_label("Find a gene").fill(gene["gene"].lower())
    page.keyboard.press("Enter")
    panel = page.get_by_role("dialog")
    sync_api.expect(panel.get_by_role("heading")).to_have_text(gene["gene"])
    assert page.url.endswith(f"#gene={gene['gene']}")
    row = panel.locator("tbody tr", has_text="control").first.inner_text()
    assert gene["module"] in row and "proven in use" in row
    assert float(row.split("\t")[3]) == pytest.approx(gene["leverage"], abs=6e-4)  # rounded on its way into the page
    content = saved(page, panel.get_by_role("button", name="CSV").last)[1]
    partners = pd.read_csv(io.BytesIO(content))
    table, groups = expression()
    r = table[groups == "control"].corr().loc[gene["gene"], partners["partner"]]
    np.testing.assert_allclose(partners["r, control"], r, atol=6e-4)
    other = panel.locator("td a").first
    told = other.inner_text()
    other.click()
    sync_api.expect(panel.get_by_role("heading")).to_have_text(told)
    page.keyboard.press("Escape")
    sync_api.expect(panel).to_have_count(0)
    assert "#" not in page.url


def test_a_link_opens_a_gene_and_says_where_it_is_not_in_use(opened, file):
    result = two_groups()
    specific = result.specific["case"][0]
    page = opened()
    page.goto(f"{file.as_uri()}#gene={specific}")
    sync_api.expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text(specific)
    rows = page.get_by_role("dialog").locator("table").first.locator("tbody tr").all_inner_texts()
    assert "not in use" in rows[0] and "proven in use" in rows[1]
    page.goto(f"{file.as_uri()}#gene=UNHEARD-OF")
    sync_api.expect(page.get_by_role("dialog")).to_contain_text("No group uses UNHEARD-OF")
    page.goto(f"{file.as_uri()}#gene=%E0%A4%A")
    sync_api.expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text("%E0%A4%A")
    page.go_back()
    page.go_back()
    sync_api.expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text(specific)
    document = page.pdf(format="A4")
    assert document.count(b"/Type /Page\n") == 1  # the panel alone


def test_names_in_tables_lead_to_panels_and_are_one_stop_for_the_keyboard(page):
    table = page.locator("#genes")
    assert table.locator("a[tabindex='0']").count() == 1
    first = table.locator("a").first
    first.focus()
    page.keyboard.press("ArrowDown")
    told = page.evaluate("document.activeElement.textContent")
    assert told == table.locator("a").nth(1).inner_text()
    page.keyboard.press("Enter")
    sync_api.expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text(told)
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.textContent") == told
    page.get_by_label("Search genes, modules or groups").fill("case")
    assert table.locator("a[tabindex='0']").evaluate("link => link.closest('tr').hidden") is False


def test_a_network_is_read_with_mouse_and_keyboard(page):
    figure = page.locator(".network").first
    assert "strongest of" in figure.locator("figcaption").inner_text() and "leverage" in figure.inner_text()
    node = figure.locator(".node").first
    node.scroll_into_view_if_needed()
    node.locator("circle").hover()
    assert " here, the strongest r = " in page.locator("#tip").inner_text()
    near = figure.locator(".edge.near").count()
    assert 0 < near < figure.locator("path.edge").count()
    page.mouse.move(5, 5)
    assert figure.locator(".near").count() == 0 and page.locator("#tip").is_hidden()
    node.focus()
    page.keyboard.press("ArrowRight")
    told = page.evaluate("document.activeElement.getAttribute('aria-label')").split(":")[0]
    page.keyboard.press("Enter")
    sync_api.expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text(told)
