"""How fast pages appear on a phone with a slow connection: `python -m benchmarks.phone_speed`.

The built pages are served compressed, as GitHub Pages does, to Chromium with the window of a phone,
1.6 Mb/s, 150 ms of latency and a processor slowed four times. Printed, and kept in
`benchmarks/results/phone_speed.json`: the first paint, and the end of the last long task, after
which the page reacts at once; medians of three visits with an empty cache.
"""

from __future__ import annotations

import datetime
import gzip
import json
import threading
from functools import cache
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

from tools.book.find_browser import ADVICE, FLAGS, find

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
STORED = ROOT / "benchmarks" / "results" / "phone_speed.json"
PAGES = (
    "index",
    *(
        f"chapters/{name}"
        for name in (
            "01_recurrent_gates",
            "05_attention",
            "06_self_attention",
            "08_decoding",
        )
    ),
)
BYTES_PER_SECOND, LATENCY, SLOWDOWN, VISITS = 1.6e6 / 8, 150, 4, 3
WATCH = """
window.tasks = [];
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) tasks.push(task.startTime + task.duration);
}).observe({ type: "longtask", buffered: true });
"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


@cache
def compressed(path: Path) -> bytes:
    """Give a file as the server sends it."""
    return gzip.compress(path.read_bytes())


class Compressing(SimpleHTTPRequestHandler):
    """Serves the built pages, each compressed."""

    def __init__(self, *given):
        super().__init__(*given, directory=str(SITE))

    def do_GET(self):
        """Send a file."""
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        body = compressed(path)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


def visit(browser: Browser, address: str) -> tuple[float, float]:
    """Give the seconds until the first paint and until the end of the last long task."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(WATCH)
    devtools = context.new_cdp_session(page)
    network = {"offline": False, "latency": LATENCY, "uploadThroughput": BYTES_PER_SECOND}
    devtools.send(
        "Network.emulateNetworkConditions", {**network, "downloadThroughput": BYTES_PER_SECOND}
    )
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWDOWN})
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1000)
    paint = page.evaluate(PAINT)
    last = page.evaluate(f"Math.max({PAINT}, ...tasks)")
    context.close()
    return paint / 1e3, last / 1e3


def main() -> None:
    """Measure, print and store."""
    executable = find()
    if executable is None:
        raise SystemExit(ADVICE)
    rows = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Compressing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
            for name in PAGES:
                address = f"http://127.0.0.1:{server.server_port}/{name}.html"
                paints, lasts = zip(*(visit(browser, address) for _ in range(VISITS)), strict=True)
                row = {"page": name, "paint": round(median(paints), 1)}
                row["interactive"] = round(median(lasts), 1)
                rows.append(row)
                print(row, flush=True)
            browser.close()
        server.shutdown()
    told = {"unit": "seconds, median of three visits", "rows": rows}
    told["date"] = datetime.date.today().isoformat()
    STORED.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
