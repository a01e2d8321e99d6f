"""What the tests of the explorer share: the engine under node, the page in Chromium, the program, and the golden cases."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Node:
    """The engine without a page."""

    def __init__(self, folder):
        command = ["node", str(SOURCE / "tests/web/serve.js"), str(folder), str(SOURCE / "web/src/worker.js")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, words, files=None, start=None, read=()):
        request = {"words": words, "files": files or {}, "start": start, "read": list(read)}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Page:
    """The explorer in Chromium, opened from disk; every error of the console is kept in `errors`."""

    browser = None  # one for all pages of a test

    def __init__(self, path, fragment="", width=1280, height=900, dark=False, touch=False):
        from playwright.sync_api import sync_playwright

        self.path = pathlib.Path(path).resolve()
        if not Page.browser:
            program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
            Page.browser = sync_playwright().start().chromium.launch(executable_path=program, args=["--no-sandbox"])
        self.context = Page.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", has_touch=touch
        )
        self.page = self.context.new_page()
        self.errors = []
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.began = time.monotonic()
        self.page.goto(self.path.as_uri() + ("#" + fragment if fragment else ""))
        self.wait()

    def wait(self, words=True):
        """Until the present state is computed: shown, and (words) all of it."""
        key = "done" if words else "shown"
        self.page.wait_for_function(f"document.body.dataset.{key} === String(reluflow.app.round) && !!reluflow.app.film", timeout=120000)

    def js(self, code, argument=None):
        return self.page.evaluate(code, argument)

    def ask(self, words, files=None, start=None, read=()):
        code = """async ([words, files, start]) => {
          if (start) start.weights = Float64Array.from(start.weights);
          const {status, error, warnings, text, ms} = await reluflow.engine.ask({words, files, start});
          return {status, error, warnings, text, ms};
        }"""
        return self.js(code, [words, files or {}, start])

    def close(self):
        self.context.close()


def program(words, folder):
    run = subprocess.run([os.environ["RELUFLOW"], *words], cwd=folder, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout, run.stderr


def golden_cases():
    """(name, words, files, start): flows whose numbers the program gives too."""
    for path in sorted((SOURCE / "tests/golden/flow").glob("*.json")):
        given = json.loads(path.read_text())["input"]
        rows = [",".join(map(repr, [*x, int(y)])) for x, y in zip(given["X"], given["y"])]
        head = ",".join([f"x{j + 1}" for j in range(len(given["X"][0]))] + ["label"])
        files = {"golden.csv": "\n".join([head, *rows]) + "\n"}
        start = {"m": len(given["a0"]), "d": len(given["X"][0]), "leak": given["alpha"]}
        start["weights"] = [v for w in given["W0"] for v in w] + given["a0"]
        words = ["flow", "golden.csv", "--leak", repr(given["alpha"]), "--loss", given["loss"], "--scale", repr(given.get("eps", 1))]
        words += ["--verdict", "0", "--branches", "follow", "--detail", "full", "--json"]
        net = {"leak": given["alpha"], "W": given["W0"], "a": given["a0"]}
        yield path.stem, words, files, start, net


def native(words, files, net):
    """The program's answer to the same question."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            pathlib.Path(folder, name).write_text(content)
        pathlib.Path(folder, "start.json").write_text(json.dumps(net))
        began = time.monotonic()
        status, out, err = program([*words, "--weights", "start.json"], folder)
        return status, (json.loads(out) if out else None), err, time.monotonic() - began
