"""The explorer in its frame on the first page of the site: frame.py PAGE.html. The frame is written by the hook of the site
(docs/site_explorer.py) from docs/index.md and has the site's style; the rest of the page is left out."""

import importlib.util
import pathlib
import shutil
import sys
import tempfile
from types import SimpleNamespace

import kit

READY = "document.body.dataset.done === String(reluflow.app.round) && !!reluflow.app.film"


def first_page(explorer, folder):
    spec = importlib.util.spec_from_file_location("site_explorer", kit.SOURCE / "docs/site_explorer.py")
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    root, site = folder / "root", folder / "site"
    (root / "build-web").mkdir(parents=True)
    site.mkdir()
    shutil.copy(explorer, root / "build-web/reluflow.html")
    config = {"config_file_path": str(root / "mkdocs.yml"), "site_dir": str(site)}
    page = SimpleNamespace(file=SimpleNamespace(src_uri="index.md"))
    text = hook.on_page_markdown((kit.SOURCE / "docs/index.md").read_text(), page, config, None)
    frame = next(line for line in text.splitlines() if line.startswith("<iframe"))
    hook.on_post_build(config)
    style = (kit.SOURCE / "docs/site.css").read_text()
    first = site / "index.html"
    first.write_text(f"<!doctype html><meta name=viewport content='width=device-width'><style>{style}</style><div class='md-typeset'>{frame}</div>")
    return first


def main(explorer):
    from playwright.sync_api import sync_playwright

    failures = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        first = first_page(explorer, pathlib.Path(folder))
        program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for width in (390, 1280):
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.on("pageerror", lambda error: failures.append(str(error)))
            page.on("console", lambda message: failures.append(message.text) if message.type == "error" else None)
            page.goto(first.as_uri())
            page.wait_for_selector("iframe.explorer")
            frame = page.frame(url="**/explorer.html*") or page.frames[-1]
            frame.wait_for_function(READY, timeout=60000)
            if not frame.evaluate("reluflow.app.film.flow.limit.margin > 0"):
                failures.append(f"{width} px: no limit in the frame")
            if frame.evaluate("document.documentElement.scrollWidth > innerWidth") or page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                failures.append(f"{width} px: wider than its frame")
            box = page.locator("iframe.explorer").bounding_box()
            if box["width"] < 0.9 * width or box["height"] < 500:
                failures.append(f"{width} px: the frame is {box['width']} x {box['height']}")
            before = frame.evaluate("reluflow.app.film.flow.limit.margin")  # a drag inside the frame is answered
            point = frame.locator("#plane .point").first
            point.scroll_into_view_if_needed()
            place = point.bounding_box()
            page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
            page.mouse.down()
            page.mouse.move(place["x"] + 30, place["y"] + 20, steps=4)
            page.mouse.up()
            frame.wait_for_function(READY, timeout=60000)
            if frame.evaluate("reluflow.app.film.flow.limit.margin") == before:
                failures.append(f"{width} px: a drag changes nothing")
            page.close()
        browser.close()
    print("\n".join(failures) or "the explorer runs in the frame of the site, at 390 and 1280 px")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
