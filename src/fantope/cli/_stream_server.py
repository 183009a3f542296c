"""`fantope stream --serve PORT`: a page that shows the stream as it runs, and metrics for Prometheus."""

from __future__ import annotations

import json
import math
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from fantope.cli._stream_output import explained, table

if TYPE_CHECKING:
    from fantope.estimators.online_sparse_pca import OnlineSparsePCA

PAUSE = 1.0  # seconds between two looks at the stream: each computes the components
HISTORY = 600  # points of the curves that are kept
SHOWN = 40  # variables of each component, or edges, that are sent, the largest first
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:"
METRICS = {
    "samples": ("samples_total", "counter", "Samples learned from."),
    "bad_rows": ("bad_rows_total", "counter", "Rows that were passed over."),
    "alarms": ("alarms_total", "counter", "Checks that were alarms."),
    "rate": ("samples_per_second", "gauge", "Samples per second since the last look."),
    "variables": ("variables", "gauge", "Variables in use."),
    "explained_share": ("explained_share", "gauge", "Share of the variance that the components explain."),
    "average_regret": ("average_regret", "gauge", "Average regret against the current estimate."),
    "missed_at_least": ("missed_at_least", "gauge", "Certified: share missed of what can be explained, at least."),
    "missed_at_most": ("missed_at_most", "gauge", "Certified: share missed of what can be explained, at most."),
}


class Live:
    """What the page shows; the run writes it, requests read it. The title says where the rows come from."""

    def __init__(self, title: str, algorithm: str) -> None:
        self.began = self.looked = time.monotonic()
        self.history: deque[dict[str, Any]] = deque(maxlen=HISTORY)
        self.state: dict[str, Any] = {
            "source": "standard input" if title == "-" else title,
            "algorithm": algorithm, "samples": 0, "bad_rows": 0, "alarms": 0, "rate": 0.0,
            "variables": 0, "explained_share": None, "average_regret": None, "missed_at_least": None,
            "missed_at_most": None, "seconds": 0.0, "components": [], "checks": [], "history": [],
        }  # fmt: skip

    def look(self, estimator: OnlineSparsePCA, bad_rows: int, *, now: bool = False) -> None:
        """Take in the state of the stream, if the last look was a while ago or ``now`` is said."""
        since = time.monotonic() - self.looked
        if not now and since < PAUSE:
            return
        self.looked = time.monotonic()
        state = {**self.state, "bad_rows": bad_rows, "seconds": self.looked - self.began}
        if estimator.__sklearn_is_fitted__():
            state |= _seen(estimator)
        if since > 0.0:
            state["rate"] = (state["samples"] - self.state["samples"]) / since
        point = ("seconds", "samples", "rate", "variables", "average_regret", "explained_share", "missed_at_least")
        self.history.append({name: state[name] for name in point})
        self.state = {**state, "history": list(self.history)}  # replaced whole: a request sees one look or the next

    def metrics(self) -> str:
        """Return the numbers as Prometheus reads them."""
        lines = []
        for name, (metric, kind, text) in METRICS.items():
            if self.state[name] is not None:
                lines += [f"# HELP fantope_{metric} {text}", f"# TYPE fantope_{metric} {kind}"]
                lines.append(f"fantope_{metric} {self.state[name]!r}")
        return "\n".join(lines) + "\n"


def _seen(estimator: OnlineSparsePCA) -> dict[str, Any]:
    regret, checks, shares = estimator.average_regret_, estimator.checks_, explained(estimator)
    stem, _, rows = table(estimator)
    if stem == "edges":
        columns = [[[f"{one} – {other}", value] for one, other, value, _ in rows]]
    else:
        columns = [[[str(row[0]), row[k]] for row in rows if row[k]] for k in range(1, len(estimator.components_) + 1)]
    loadings = [sorted(column, key=lambda pair: -abs(pair[1]))[:SHOWN] for column in columns]
    return {
        "samples": estimator.n_samples_seen_,
        "variables": len(estimator.support_),
        "explained_share": sum(shares) if shares else None,
        "average_regret": None if math.isnan(regret) else regret,
        "components": loadings,
        "alarms": estimator.n_alarms_,
        "missed_at_least": checks[-1].at_least if checks else None,
        "missed_at_most": checks[-1].at_most if checks else None,
        "checks": [{"sample": check.sample, "alarm": check.alarm, "text": str(check)} for check in checks[-50:]],
    }


@contextmanager
def serving(live: Live, host: str, port: int) -> Iterator[str]:
    """Serve the page as long as the block runs; yield its address."""
    page = files("fantope.cli").joinpath("assets/stream.html").read_bytes()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            # A page elsewhere that gives its own name this address must not read what is meant for this machine.
            if host == "127.0.0.1" and not _is_local(self.headers.get("Host", "")):
                path = ""
            if path == "/":
                kind, body = "text/html", page
            elif path == "/state.json":
                kind, body = "application/json", json.dumps(live.state).encode()
            elif path == "/metrics":
                kind, body = "text/plain; version=0.0.4", live.metrics().encode()
            else:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing of requests: standard error is for the stream."""

    try:
        server = ThreadingHTTPServer((host, port), Handler)
    except OSError as error:
        raise ValueError(
            f"--serve: port {port} of {host} cannot be used ({error.strerror or error}); choose another, or 0 for any."
        ) from None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield f"http://{host}:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def _is_local(host: str) -> bool:
    return host.rpartition(":")[0] in ("127.0.0.1", "localhost") or host in ("127.0.0.1", "localhost")
