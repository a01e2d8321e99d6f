"""Forty things that somebody does first: at the command line, in Python, in a notebook. Each with what it must show."""
import io
import os
import pickle
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import reluflow

CSV = "height,width,label\n1.0,2.0,oak\n2.0,1.0,oak\n3.0,3.0,oak\n-1.0,-2.0,ash\n-3.0,1.0,ash\n"
FRONT = "label,height,width\noak,1.0,2.0\noak,2.0,1.0\nash,-1.0,-2.0\nash,-3.0,1.0\n"
MEASURED = "a,b,price\n" + "".join(f"{k},{-k},{k * 1.37 + 0.11}\n" for k in range(30))

# Words, exit status, what standard output or standard error must hold.
COMMANDS = [
    (["--version"], 0, r"reluflow \d+\.\d+"),
    ([], 0, r"Commands[\s\S]*explain DATA"),
    (["help", "flow"], 0, r"--width M"),
    (["flow", "--help"], 0, r"Examples"),
    (["flwo", "trees.csv"], 2, r"did you mean 'flow'\?"),
    (["flow"], 2, r"flow needs DATA"),
    (["flow", "trees.csv", "--widht", "3"], 2, r"did you mean --width\?"),
    (["flow", "nothing.csv"], 2, r"nothing\.csv"),
    (["data", "list"], 0, r"orthant"),
    (["data", "info", "trees.csv"], 0, r"5 samples|5 x 2|ash"),
    (["inspect", "trees.csv"], 0, r"separable"),
    (["inspect", "front.csv"], 0, r"4 samples in 2 dimensions"),
    (["inspect", "measured.csv"], 2, r"measurements, not classes"),
    (["inspect", "arrays.npz"], 2, r"found no X; there are: A, t"),
    (["explain", "trees.csv", "--width", "6"], 0, r"So gradient flow"),
    (["explain", "trees.csv", "--width", "6", "--report", "page.html", "--quiet"], 0, r"^$"),
    (["maxmargin", "trees.csv", "--json"], 0, r'"margin"'),
    (["flow", "trees.csv", "--width", "6", "-o", "run.json", "--quiet"], 0, r"^$"),
    (["flow", "trees.csv", "-o", "net.npz"], 2, r"what is written is JSON"),
    (["certify", "trees.csv", "run.json"], 0, r"The best network there is"),
    (["rerun", "run.json"], 0, r"same"),
    (["completion", "bash"], 0, r"complete -o default -F _reluflow reluflow"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("first")
    for name, text in (("trees.csv", CSV), ("front.csv", FRONT), ("measured.csv", MEASURED)):
        (place / name).write_text(text)
    np.savez(place / "arrays.npz", A=np.eye(3), t=np.array([1, 0, 1]))
    return place


@pytest.mark.parametrize("words, status, shown", COMMANDS, ids=[" ".join(c[0]) or "nothing" for c in COMMANDS])
def test_command_line(folder, words, status, shown):
    program = os.environ.get("RELUFLOW")
    if not program or not os.path.exists(program):
        pytest.skip("RELUFLOW does not name the program")
    run = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
    assert run.returncode == status, run.stderr
    assert re.search(shown, run.stdout if status == 0 else run.stderr), run.stdout + run.stderr
    assert status != 2 or run.stderr.count("\n") == 1


X = np.array([[1.0, 2], [2, 1], [3, 3], [-1, -2], [-3, 1]])
Y = np.array(["oak", "oak", "oak", "ash", "ash"])


def test_23_arrays_in():
    assert reluflow.flow(X, Y, width=6).limit.status == "converged"


def test_24_a_data_frame_in():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["height", "width"])
    assert reluflow.inspect(frame, pandas.Series(Y)).classes == ["ash", "oak"]


def test_25_labels_forgotten():
    with pytest.raises(TypeError, match="labels y are missing"):
        reluflow.flow(X)


def test_26_labels_that_are_measurements():
    with pytest.raises(ValueError, match=r"measurements.*y > np\.median\(y\)"):
        reluflow.flow(np.random.RandomState(0).normal(size=(30, 2)), np.linspace(0, 1, 30))


def test_27_a_misspelt_option():
    with pytest.raises(TypeError, match="did you mean 'width'"):
        reluflow.flow(X, Y, widht=6)


def test_28_a_misspelt_field():
    with pytest.raises(AttributeError, match="no field 'magrin'; there are: .*margin"):
        reluflow.flow(X, Y, width=6).limit.magrin


def test_29_print_and_repr():
    run = reluflow.flow(X, Y, width=6)
    assert "Limit  converged" in str(run)
    assert re.fullmatch(r"<Flow of arrays, 5 x 2: limit converged, margin 0\.\d+, KKT point yes, local optimum, global optimum>", repr(run))


def test_30_tab_completion():
    names = dir(reluflow.flow(X, Y, width=6))
    assert {"limit", "trace", "plot", "to_frame", "save", "network"} <= set(names) and not [n for n in names if n.startswith("_")]


def test_31_help():
    text = io.StringIO()
    import pydoc

    text.write(pydoc.render_doc(reluflow.Flow, renderer=pydoc.plaintext))
    assert "The direction at t = infinity" in text.getvalue() and "Min_i" not in reluflow.flow.__doc__
    assert "width" in pydoc.render_doc(reluflow.flow, renderer=pydoc.plaintext)


def test_32_tables():
    pandas = pytest.importorskip("pandas")
    run = reluflow.flow(X, Y, width=6)
    frame = pandas.DataFrame(run.trace)
    assert {"log_t", "log_loss", "margin"} <= set(frame.columns) and len(frame) == len(run.trace) and frame["log_loss"].dtype == float
    assert run.to_frame().equals(frame) and list(run.to_frame("limit.groups")["sign"]) == [1, -1]


def test_33_latex():
    table = reluflow.maxmargin(X, Y).to_latex()
    assert table.startswith("\\begin{tabular}{ll}\n\\toprule") and "best margin & $0." in table and "\\times 10^{" in table


def test_34_save_and_load(tmp_path):
    run = reluflow.explain(X, Y, width=6)
    run.save(tmp_path / "run.json")
    again = reluflow.load(tmp_path / "run.json")
    assert again == run and repr(again) == repr(run) and str(again) == str(run) and type(again.flow) is reluflow.Flow
    pytest.importorskip("matplotlib")
    again.plot()
    with pytest.raises(ValueError, match="not a result"):
        (tmp_path / "x.json").write_text("{}")
        reluflow.load(tmp_path / "x.json")


def test_35_a_result_of_the_program(folder):
    if not (folder / "run.json").exists():
        pytest.skip("RELUFLOW does not name the program")
    run = reluflow.load(folder / "run.json")
    assert isinstance(run, reluflow.Flow) and run.limit.status == "converged" and run.limit.W.dtype == np.float64


def test_36_pickle_and_copy():
    run = reluflow.flow(X, Y, width=6)
    assert pickle.loads(pickle.dumps(run)) == run and type(pickle.loads(pickle.dumps(run)).limit) is type(run.limit)


def test_37_plots():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    run = reluflow.flow(X, Y, width=6)
    _, ax = pyplot.subplots()
    assert run.plot(ax=ax) is ax and ax.get_xlabel() == "time $t$"
    assert len(run.plot()) == 3 and run.plot(kind="neurons").figure.get_figwidth() == 3.4
    with pytest.raises(ValueError, match="no picture 'pie'.*there are: time, neurons, boundary, margins"):
        run.plot(kind="pie")
    pyplot.close("all")


def test_38_in_a_notebook():
    pytest.importorskip("matplotlib")
    page = reluflow.explain(X, Y, width=6)._repr_html_()
    assert page.startswith("<p><b>So gradient flow") and "<svg" in page and page.count("<li>") >= 8


def test_39_without_the_optional_parts():
    script = ("import sys\nfor name in ('matplotlib', 'pandas', 'sklearn'): sys.modules[name] = None\nimport reluflow\nrun = reluflow.flow('gen:xor', width=6)\n"
              "for action in (run.plot, run.to_frame, lambda: reluflow.HardMarginSVC):\n    try:\n        action()\n    except ModuleNotFoundError as error:\n        print(error)\n")
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert out.stdout.splitlines() == ["pictures need matplotlib: pip install 'reluflow[plot]'", "to_frame needs pandas: pip install 'reluflow[frame]'",
                                       "the estimators need scikit-learn: pip install 'reluflow[sklearn]'"], out.stdout + out.stderr


def test_40_a_script_with_a_deadline():
    run = reluflow.maxmargin(*reluflow.datasets.gaussian(n=60, d=12, seed=1), time=0.2)
    assert run.exit_code == 130 and "interrupted" in repr(run)


def test_there_are_forty():
    own = [name for name in globals() if re.match(r"test_\d\d_", name)]
    assert len(COMMANDS) + len(own) == 40 and shutil.which(sys.executable)
