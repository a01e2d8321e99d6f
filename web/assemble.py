"""The page from its parts: python3 assemble.py ENGINE_FOLDER OUT.html. The engine goes in compressed, everything in one file."""

import base64
import gzip
import pathlib
import sys

HERE = pathlib.Path(__file__).parent / "src"
# The order in which the parts see each other.
SCRIPTS = ["draw", "engine", "model", "film", "plane", "ways", "timeline", "panels", "share", "lessons", "app"]


def text(name):
    return (HERE / name).read_text(encoding="utf-8")


def inside_script(code):
    """Nothing in a script may look like its end."""
    return code.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def main(folder, out):
    engine = pathlib.Path(folder)
    packed = gzip.compress((engine / "engine.wasm").read_bytes(), 9, mtime=0)
    scripts = "\n".join(text(name + ".js") for name in SCRIPTS)
    parts = {
        "/*STYLE*/": text("style.css"),
        "/*WASM*/": base64.b64encode(packed).decode(),
        "/*GLUE*/": inside_script((engine / "engine.js").read_text(encoding="utf-8")),
        "/*WORKER*/": inside_script(text("checker.js") + text("worker.js")),
        "/*GIVEN*/": "null",
        "/*SCRIPT*/": inside_script('"use strict";\n(() => {\n' + scripts + "\n})();"),
    }
    page = text("page.html")
    for mark, content in parts.items():
        before, found, after = page.partition(mark)
        if not found:
            raise SystemExit(f"page.html has no {mark}")
        page = before + content + after
    pathlib.Path(out).write_text(page, encoding="utf-8")
    print(f"{out}: {len(page.encode()) / 1e6:.2f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
