"""The page and the metrics of a stream that is running."""

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

import fantope
from fantope.cli import main
from fantope.cli._stream_server import Live, serving

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def get(address, **headers):
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=10) as answer:
        return answer.headers, answer.read().decode()


@pytest.fixture
def live():
    Z = fantope.simulate(420, 60).Z
    Z[250:] = Z[250:, ::-1]
    names = ["<b>0</b>", *(f"v{k}" for k in range(1, 60))]
    pca = fantope.OnlineSparsePCA(2, alpha=0.1, track=50).watch(0.2, window=100)
    live = Live("ticks.csv", "online-t")
    pca.begin(60, names)
    for rows in np.array_split(Z, 3):
        pca.learn(rows)
        live.look(pca, 4, now=True)
    live.pca = pca
    return live


def test_state_and_metrics(live):
    with serving(live, "127.0.0.1", 0) as address:
        headers, page = get(address)
        assert "<title>fantope stream</title>" in page and "default-src 'none'" in headers["Content-Security-Policy"]
        state = json.loads(get(address + "state.json")[1])
        headers, metrics = get(address + "metrics")
        assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        for path in ("nothing", "../etc/passwd"):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                get(address + path)
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(address + "state.json", Host="elsewhere.example")
    with pytest.raises(urllib.error.URLError):  # it ends with the block
        get(address)
    pca = live.pca
    assert state["samples"] == 420 and state["variables"] == len(pca.support_) and state["alarms"] == pca.n_alarms_ > 0
    largest = np.abs(pca.components_[0]).argmax()
    assert state["components"][0][0] == [pca.feature_names_in_[largest], pca.components_[0, largest]]
    values = dict(line.split() for line in metrics.splitlines() if not line.startswith("#"))
    assert values["fantope_samples_total"] == "420" and values["fantope_bad_rows_total"] == "4"
    assert float(values["fantope_average_regret"]) == pca.average_regret_
    assert float(values["fantope_missed_at_least"]) == pca.checks_[-1].at_least
    kinds = [line.split()[3] for line in metrics.splitlines() if line.startswith("# TYPE")]
    assert kinds.count("counter") == 3 and len(kinds) == len(values) == 9


def test_standard_input_has_a_name():
    assert Live("-", "online-t").state["source"] == "standard input"


def test_a_port_in_use_is_one_sentence(tmp_path, capsys):
    np.save(tmp_path / "a.npy", np.eye(5))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["stream", str(tmp_path / "a.npy"), "-q", "--serve", str(port)]) == 2
    assert f"--serve: port {port} of 127.0.0.1 cannot be used" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.posix
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_a_running_stream_in_a_real_browser(tmp_path):
    """Rows come in while the page is open: numbers, loadings and alarms follow, and the page says when it is over."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    Z = fantope.simulate(400, 60).Z
    Z[250:] = Z[250:, ::-1]
    lines = [",".join(["<i>name</i>", *(f"v{k}" for k in range(1, 60))])]
    lines += [",".join(map(repr, row)) for row in Z.tolist()]
    words = ["stream", "-", "--serve", "0", "--alarm", "0.2", "--alarm-window", "80", "--track", "40", "-q"]
    command = [sys.executable, "-c", "import sys; from fantope.cli import main; sys.exit(main(sys.argv[1:]))", *words]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as run, sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            address = run.stderr.readline().split(" shown at ")[1].partition(",")[0]
            seen = []
            page = browser.new_page(viewport={"width": 375, "height": 700})
            page.on("pageerror", lambda error: seen.append(str(error)))
            page.on(
                "request",
                lambda request: seen.append(request.url) if not request.url.startswith((address, "data:")) else 0,
            )
            page.goto(address)

            def shows(what):
                return sync_api.expect(page.locator(what))

            run.stdin.write("\n".join(lines[:201]) + "\n")
            run.stdin.flush()
            shows("#samples").to_have_text("200", timeout=30_000)
            assert page.locator("#alarms").inner_text() == "0" and page.locator("#components table").count() == 2
            names = page.locator("#components td:first-child").all_inner_texts()
            assert "<i>name</i>" in names or all(name.startswith("v") for name in names)  # text, never markup
            run.stdin.write("\n".join(lines[201:]) + "\n")
            run.stdin.flush()
            shows("#samples").to_have_text("400", timeout=30_000)
            assert int(page.locator("#alarms").inner_text()) > 0
            assert "alarm, at least" in page.locator("#checks li.alarm").first.inner_text()
            shows("#curves svg").to_have_count(4, timeout=30_000)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # fits a phone
            run.stdin.close()
            shows("#ended").to_be_visible(timeout=30_000)
            assert seen == []
            deadline = time.monotonic() + 30.0
            while run.poll() is None and time.monotonic() < deadline:
                time.sleep(0.1)
            assert run.returncode == 3
        finally:
            browser.close()
            run.kill()
