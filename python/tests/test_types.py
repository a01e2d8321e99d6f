"""What type checkers and editors know of the package."""
import json
import pathlib
import shutil
import subprocess
import sys
import typing

import numpy as np
import pytest

import reluflow
from reluflow import _fields

USER = '''
import numpy as np
import reluflow

X, y = reluflow.datasets.load("gen:DS-PL2")
run = reluflow.flow(X, y, width=6)
margin: float = run.limit.margin
doubled = 2 * run.limit.margin + 1
rows: int = run.limit.W.shape[0]
reveal_type(run.limit.margin)
reveal_type(run.limit.groups[0].beta)
reveal_type(run.verdict.global_)
reveal_type(reluflow.explain(X, y).flow.network)
best = reluflow.maxmargin(X, y)
if best.network is not None:
    print(best.network(np.zeros((1, 2))), best.global_.lambda_.sum())
reluflow.certify((np.eye(2), np.ones(2)), X, y).save("x.json")
for row in run.trace:
    print(row.log_t, row.get("margin"))
'''


def checked(tool: list[str], folder: pathlib.Path) -> str:
    run = subprocess.run([sys.executable, "-m", *tool], cwd=folder, capture_output=True, text=True)
    return run.stdout + run.stderr


def test_mypy_strict_on_a_users_script(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "user.py").write_text(USER)
    out = checked(["mypy", "--strict", "user.py"], tmp_path)
    assert "error" not in out, out
    for kind in ("float | Any", "numpy.dtype[numpy.float64]", "str | Any", "Network | None"):
        assert kind in out.replace("Union[float, Any]", "float | Any").replace("builtins.", ""), out
    (tmp_path / "wrong.py").write_text("import reluflow\nreluflow.flow('gen:xor').limit.magrin\n")
    assert "magrin" in checked(["mypy", "--strict", "wrong.py"], tmp_path)


def test_the_package_passes_mypy_and_stubtest(tmp_path, source):
    pytest.importorskip("mypy", reason="mypy is not installed")
    shutil.copy(source / "python" / "pyproject.toml", tmp_path / "pyproject.toml")
    out = checked(["mypy", "--config-file", "pyproject.toml", "-p", "reluflow"], tmp_path)
    assert "Success" in out, out
    out = checked(["mypy.stubtest", "reluflow._native", "--ignore-disjoint-bases"], tmp_path)
    assert "Success" in out, out


def test_pyright_knows_the_fields(tmp_path):
    pytest.importorskip("pyright", reason="pyright is not installed")
    (tmp_path / "user.py").write_text(USER)
    run = subprocess.run([sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "user.py"], cwd=tmp_path, capture_output=True, text=True)
    if not run.stdout.startswith("{"):
        pytest.skip("pyright does not run here (it fetches Node.js)")
    messages = json.loads(run.stdout)["generalDiagnostics"]
    assert not [m for m in messages if m["severity"] == "error"], messages
    assert any('"float | Any"' in m["message"] for m in messages)


class Editor:
    """What an editor does: a language server at the other end of a pipe."""

    def __init__(self, folder: pathlib.Path):
        self.server = subprocess.Popen([sys.executable, "-m", "pyright.langserver", "--stdio"], cwd=folder, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.count = 0

    def send(self, message) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.server.stdin.flush()

    def receive(self):
        length = 0
        while True:
            line = self.server.stdout.readline()
            if not line:
                pytest.skip("pyright does not run here (it fetches Node.js)")
            if line == b"\r\n":
                return json.loads(self.server.stdout.read(length))
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])

    def ask(self, method, parameters):
        self.count += 1
        self.send({"id": self.count, "method": method, "params": parameters})
        while True:
            answer = self.receive()
            if "method" in answer and "id" in answer:  # the server asks: which settings, and the like
                wanted = answer["params"].get("items") if isinstance(answer.get("params"), dict) else None
                settings = [{"pythonPath": sys.executable} if item.get("section") == "python" else {} for item in wanted or []]
                self.send({"id": answer["id"], "result": settings if wanted else None})
            elif answer.get("id") == self.count:
                return answer["result"]


def test_an_editor_completes_the_fields(tmp_path):
    """`run.limit.` offers margin, with what it means."""
    pytest.importorskip("pyright", reason="pyright is not installed")
    text = "import reluflow\nrun = reluflow.flow('gen:xor')\nrun.limit.\nreluflow.maxmargin('gen:xor').global_.mar\n"
    (tmp_path / "user.py").write_text(text)
    (tmp_path / "pyrightconfig.json").write_text("{}")
    editor = Editor(tmp_path)
    try:
        root = tmp_path.as_uri()
        editor.ask("initialize", {"processId": None, "rootUri": root, "workspaceFolders": [{"uri": root, "name": "user"}],
                                  "capabilities": {"workspace": {"configuration": True}, "textDocument": {"completion": {"completionItem": {"documentationFormat": ["plaintext"]}}}}})
        editor.send({"method": "initialized", "params": {}})
        document = {"uri": root + "/user.py"}
        editor.send({"method": "textDocument/didOpen", "params": {"textDocument": {**document, "languageId": "python", "version": 1, "text": text}}})
        for line, column, least in ((2, 10, {"margin", "status", "W", "groups", "kkt"}), (3, 41, {"margin"})):
            answer = editor.ask("textDocument/completion", {"textDocument": document, "position": {"line": line, "character": column}})
            items = {item["label"]: item for item in answer["items"]}
            assert least <= set(items), sorted(items)[:20]
        meaning = editor.ask("completionItem/resolve", items["margin"])
        assert "Best normalised margin" in meaning["documentation"]["value"], meaning
    finally:
        editor.server.kill()
        editor.server.wait()


def matches(value, kind) -> bool:
    if value is None or kind is typing.Any:
        return True
    origin = typing.get_origin(kind)
    if origin is typing.Union or str(origin) == "<class 'types.UnionType'>":
        return any(matches(value, part) for part in typing.get_args(kind) if part is not typing.Any)
    if origin is list:
        return isinstance(value, list) and all(matches(item, typing.get_args(kind)[0]) for item in value)
    if origin is np.ndarray:
        wanted = typing.get_args(typing.get_args(kind)[1])[0]
        return isinstance(value, np.ndarray) and value.dtype == wanted
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, kind)


def walk(record, path=""):
    """Every field of a result has the type that its property says."""
    for name in record:
        where = f"{path}.{name}"
        attribute = getattr(type(record), name, None) or getattr(type(record), name + "_", None)
        if isinstance(attribute, property) and attribute.fget is not None:
            kind = typing.get_type_hints(attribute.fget, vars(sys.modules[attribute.fget.__module__]), vars(_fields)).get("return")
            assert matches(record[name], kind), f"{where}: {type(record[name]).__name__} is not {kind}"
        for item in record[name] if isinstance(record[name], list) else [record[name]]:
            if isinstance(item, reluflow.Record):
                walk(item, where)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="Python 3.9 cannot evaluate float | None")
def test_results_are_what_their_types_say():
    X, y = reluflow.datasets.load("gen:DS-PL2")
    run = reluflow.flow(X, y, width=6, paths=3)
    layered = {"activation": "relu", "layers": [{"kind": "dense", "shape": [2, 2], "weights": [1.0, 1, -1, -1]}, {"kind": "dense", "shape": [1, 2], "weights": [1.0, -1]}]}
    for result in (run, reluflow.explain("gen:xor", width=6), reluflow.inspect("gen:multiclass-orthant"), reluflow.maxmargin("gen:multiclass-orthant"),
                   reluflow.flow("gen:multiclass-orthant", width=5), reluflow.train(X, y, steps=20), reluflow.certify(run, X, y),
                   reluflow.certify(layered, X, y), reluflow.flow(X, y, weights=layered), reluflow.verify("VSS-01")):
        walk(result, type(result).__name__)


def test_every_field_explains_itself():
    for name in ("margin", "W", "status"):
        assert len(getattr(_fields.FlowLimit, name).__doc__) > 10
    assert "t = infinity" in (reluflow.Flow.__doc__ or "")
    assert set(dir(reluflow)) == set(reluflow.__all__)
    assert not [name for name in dir(reluflow.flow("gen:xor", width=4)) if name.startswith("_")]
