"""Every example of the documents runs: README, the site's pages, the docstrings."""
import doctest
import importlib
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest
from conftest import SOURCE

DOCUMENTS = sorted([SOURCE / "README.md", SOURCE / "python" / "README.md", *(SOURCE / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(path, kind):
    return [match[2] for match in FENCE.finditer(path.read_text()) if match[1] == kind]


def title(path):
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", [p for p in DOCUMENTS if blocks(p, "python")], ids=title)
def test_python(path, tmp_path, monkeypatch):
    """The blocks of a page, one after the other, in one namespace."""
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for block in blocks(path, "python"):
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, title(path), str(path), None)
            runner.run(test, clear_globs=False)
            names = test.globs
        else:
            exec(compile(block, str(path), "exec"), names)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("path", [p for p in DOCUMENTS if blocks(p, "console")], ids=title)
def test_console(path, tmp_path):
    """Commands after "$ ", with what they print; "..." stands for anything."""
    program = os.environ.get("RELUFLOW")
    if not program or not os.path.exists(program):
        pytest.skip("RELUFLOW does not name the program")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "reluflow").symlink_to(program)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    for block in blocks(path, "console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, expected = part.partition("\n")
            if shlex.split(command)[0] not in ("reluflow", "echo"):
                continue
            run = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert run.returncode in (0, 1), f"{command}: {run.stderr}"
            checker = doctest.OutputChecker()
            assert not expected.strip() or checker.check_output(expected, run.stdout, FLAGS), f"{command}\n{run.stdout}"


@pytest.mark.parametrize("name", ["reluflow", *(f"reluflow.{n}" for n in ("functions", "datasets", "estimators", "torch", "networks", "results", "sweeps"))])
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=FLAGS).failed == 0


def notebooks():
    namespace = importlib.util.spec_from_file_location("make_notebooks", SOURCE / "docs" / "notebooks" / "make.py")
    module = importlib.util.module_from_spec(namespace)
    namespace.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", sorted(path.stem for path in (SOURCE / "docs" / "notebooks").glob("*.ipynb")))
def test_notebooks(name):
    """Run again, every cell has the cells and outputs that are stored."""
    pytest.importorskip("pandas")
    module = notebooks()
    assert sorted(module.NOTEBOOKS) == sorted(path.stem for path in (SOURCE / "docs" / "notebooks").glob("*.ipynb")) and len(module.NOTEBOOKS) == 3
    stored = json.loads((SOURCE / "docs" / "notebooks" / f"{name}.ipynb").read_text())
    cells = module.run(module.NOTEBOOKS[name])["cells"]
    assert len(cells) == len(stored["cells"])
    for now, then in zip(cells, stored["cells"]):
        assert now["source"] == then["source"]
        assert [_text(output) for output in now.get("outputs", [])] == [_text(output) for output in then.get("outputs", [])]


def _text(output):
    """The last digits of a number may differ from machine to machine."""
    text = "".join(output.get("text") or output["data"]["text/plain"])
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.3g}" if float(number[0]) > 1e-6 else "small", text)


def test_every_page_is_in_the_site():
    pages = {str(path.relative_to(SOURCE / "docs")) for path in (SOURCE / "docs").rglob("*.md")}
    shown = set(re.findall(r"[\w/-]+\.md", (SOURCE / "mkdocs.yml").read_text()))
    assert pages == shown


def test_links_lead_somewhere():
    for path in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
            if not re.match(r"https?:", target):
                assert (path.parent / pathlib.Path(target)).exists(), f"{title(path)}: {target}"


def test_benchmarks_keep_what_was_written_by_hand(source, tmp_path, monkeypatch):
    """`bench/run peers` replaces its own part of docs/benchmarks.md and nothing else, whichever peers are there."""
    text = (source / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    for folder in ("docs", "bench/peers"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs" / "benchmarks.md").write_text(text, encoding="utf-8")
    shutil.copy(source / "bench" / "peers" / "peers.py", tmp_path / "bench" / "peers")
    monkeypatch.setenv("RELUFLOW", shutil.which("true"))
    spec = importlib.util.spec_from_file_location("peers", tmp_path / "bench" / "peers" / "peers.py")
    peers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peers)

    def absent():
        raise ImportError("No module named 'peer'")

    peers.attempt("hard margin", "10 x 2", "a peer", absent)
    peers.add("hard margin", "10 x 2", "reluflow", "margin", 0.0, 0.5)
    peers.page(["no kernels today"])
    after = (tmp_path / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    outside = [part.partition(peers.BEGIN)[0] + part.partition(peers.END)[2] for part in (text, after)]
    assert outside[0] == outside[1] and "## frontier" in outside[1]
    assert "| hard margin | 10 x 2 | a peer | no result: ImportError: No module named 'peer' |  |  |" in after and "no kernels today" in after
    peers.page(["again"])
    assert (tmp_path / "docs" / "benchmarks.md").read_text(encoding="utf-8").count(peers.BEGIN) == 1
