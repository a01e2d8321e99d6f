"""The functions: the same numbers as the program, arrays in place, options that cannot drift, errors, threads, leaks."""
import gc
import inspect as python_inspect
import json
import os
import pickle
import resource
import signal
import subprocess
import threading
import time

import numpy as np
import pytest

import reluflow
from reluflow import _native, datasets
from reluflow._call import options_of


def program():
    path = os.environ.get("RELUFLOW")
    if not path or not os.path.exists(path):
        pytest.skip("RELUFLOW does not name the program")
    return path


def without_clock(value):
    """Drops what differs from run to run."""
    if isinstance(value, dict):
        return {k: without_clock(v) for k, v in value.items() if k not in ("seconds", "steps_per_second", "model", "init", "run")}
    return [without_clock(v) for v in value] if isinstance(value, list) else value


COMMANDS = [
    ("inspect", "gen:DS-SYM6", dict(leak=0.5)),
    ("maxmargin", "gen:gaussian,n=12,d=3", {}),
    ("maxmargin", "gen:multiclass-orthant", dict(leak=0.1)),
    ("flow", "gen:DS-PL2", dict(width=7, scale=1e-3)),
    ("flow", "gen:multiclass-orthant", dict(width=5, scale="limit")),
    ("train", "gen:orthant,n=30,d=4", dict(width=9, steps=200, rate=0.1)),
    ("explain", "gen:DS-PL2", dict(width=6)),
]


@pytest.mark.parametrize("command, data, options", COMMANDS)
def test_same_as_the_program(command, data, options):
    words = [f"--{k.replace('_', '-')}={v}" for k, v in options.items()]
    out = subprocess.run([program(), command, data, "--json", *words], capture_output=True, text=True)
    expected = without_clock(json.loads(out.stdout))
    result = getattr(reluflow, command)(data, **options)
    assert without_clock(result.to_dict()) == expected
    assert result.exit_code == out.returncode


@pytest.mark.parametrize("command, data, options", COMMANDS)
def test_arrays_give_the_same_as_the_name(command, data, options):
    named = getattr(reluflow, command)(data, **options)
    arrays = getattr(reluflow, command)(datasets.load(data), **options)

    def strip(value):
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k != "name"}
        return [strip(v) for v in value] if isinstance(value, list) else value

    left, right = strip(without_clock(named.to_dict())), strip(without_clock(arrays.to_dict()))
    left.pop("sentences", None), right.pop("sentences", None)
    assert left == right


def test_fields_are_attributes():
    best = reluflow.maxmargin("gen:xor")
    assert best.global_.lambda_ is best["global"]["lambda"]
    assert isinstance(best.global_.lambda_, np.ndarray) and best.global_.lambda_.dtype == np.float64
    assert isinstance(best.linear.farkas, np.ndarray) and best.linear.w is None
    assert "global_" in dir(best) and "global" in best
    with pytest.raises(AttributeError, match="there are: .*linear"):
        best.nothing
    with pytest.raises(AttributeError):
        best.linear = 1
    again = pickle.loads(pickle.dumps(best))
    assert again == best and str(again) == str(best)
    assert "Linear, through the origin" in str(best)
    page = best._repr_html_()
    assert page.count("<table>") == page.count("</table>") and "objective" in page


def test_arrays_are_used_in_place():
    X, y = datasets.orthant(n=2000, d=50)
    assert not X.flags.owndata and X.flags.c_contiguous
    from reluflow._arrays import samples_of

    assert samples_of(X, y)[0] is X
    before = X.copy()
    result = reluflow.train(X, y, steps=2, width=3)
    assert np.array_equal(X, before)
    assert result.W.base is not None  # a view of the library's memory
    assert samples_of(np.asfortranarray(X), y)[0].flags.c_contiguous
    assert reluflow.inspect(X.astype(np.float32)[:20], y[:20]).n == 20


def test_labels_of_any_kind():
    X = [[1.0, 2], [2, 1], [-1, -3]]
    assert reluflow.inspect(X, ["oak", "oak", "ash"]).classes == ["ash", "oak"]
    assert reluflow.inspect(X, [1.0, 1.0, -1.0]).classes == ["-1", "1"]
    assert reluflow.inspect(X, [True, True, False]).n_pos == 2
    assert reluflow.inspect(X, [0, 0, 0]).n_pos == 0
    assert reluflow.inspect(X, ["a", "b", "c"], classes="a,c").n == 2
    assert reluflow.inspect(X, [1, 1, -1], bias=1.0).d == 3


@pytest.mark.parametrize("name", ["inspect", "maxmargin", "flow", "train", "certify", "verify", "explain"])
def test_options_cannot_drift(name):
    known = options_of(name)
    signature = python_inspect.signature(getattr(reluflow, name))
    for parameter in signature.parameters.values():
        if parameter.kind is not parameter.KEYWORD_ONLY:
            continue
        assert parameter.name in known, parameter.name
        kind, default = known[parameter.name]
        if parameter.default is None or kind == 0:
            continue
        if isinstance(parameter.default, str):
            assert parameter.default == default
        else:
            assert float(parameter.default) == float(default)


def test_errors_carry_status_and_message():
    with pytest.raises(reluflow.UsageError) as caught:
        reluflow.flow("gen:xor", leak=2.0)
    assert caught.value.status is reluflow.Status.USAGE and "--leak 2.0: expected" in caught.value.message
    assert isinstance(caught.value, ValueError)
    with pytest.raises(reluflow.FileError, match="nothing.csv") as caught:
        reluflow.inspect("nothing.csv")
    assert isinstance(caught.value, OSError) and caught.value.status == -4
    with pytest.raises(TypeError, match="did you mean 'width'"):
        reluflow.flow("gen:xor", widht=3)
    with pytest.raises(reluflow.UsageError, match="row 1, column 0 of X is not finite"):
        reluflow.inspect([[1.0, 2], [np.nan, 1]], [1, -1])
    with pytest.raises(ValueError):
        reluflow.inspect([[1.0, 2]], [1, -1])
    with pytest.raises(TypeError, match="labels"):
        reluflow.inspect([[1.0, 2]])
    with pytest.raises(reluflow.UsageError):
        reluflow.datasets.load("gen:nothing")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.status == caught.value.status and str(copy) == str(caught.value)


def test_generators():
    for name in datasets.list_generators():
        assert callable(getattr(datasets, name))
    assert "seed" in python_inspect.signature(datasets.orthant).parameters
    assert np.array_equal(datasets.orthant(n=5, d=3).X, datasets.load("gen:orthant,n=5,d=3").X)
    with pytest.raises(TypeError):
        datasets.orthant(rows=3)
    X, y = datasets.xor()
    assert set(y) == {-1, 1} and np.array_equal(y, np.prod(X, axis=1))


def test_networks_in_and_out():
    X, y = datasets.load("gen:DS-PL2")
    run = reluflow.flow(X, y, width=6)
    limit = run.network
    assert abs(limit.margin(X, y) - run.limit.margin) < 1e-12
    what = reluflow.certify(limit, X, y)
    assert what.kkt.holds and what.global_.verdict == "optimum"
    assert reluflow.certify((limit.W, limit.a), X, y).margin == what.margin
    assert reluflow.certify({"W": limit.W, "a": limit.a}, X, y).margin == what.margin
    assert reluflow.certify({"fc1.weight": limit.W, "fc2.weight": limit.a[None]}, X, y).margin == what.margin
    assert reluflow.certify(run, X, y).margin == what.margin
    start = reluflow.train(X, y, width=6, steps=100)
    assert reluflow.flow(X, y, weights=start).limit.status == "converged"
    words = reluflow.explain(X, y, weights=start, scale=1e-6)
    assert any(f"From {len(start.a)} neurons (given start, scale 1e-06)" in line for line in words.sentences)
    assert words.flow.limit.margin == reluflow.flow(X, y, weights=start, scale=1e-6).limit.margin
    more = reluflow.train(X, y, model=start, steps=1, rate=1e-9)
    assert np.allclose(more.W, start.W, atol=1e-6)
    biased = {"0.weight": limit.W, "0.bias": np.ones(6), "2.weight": limit.a[None]}
    assert reluflow.certify(biased, X, y, local=True).margin == reluflow.certify((np.column_stack([limit.W, np.ones(6)]), limit.a), np.column_stack([X, np.ones(5)]), y, local=True).margin
    with pytest.raises(TypeError, match="bias= is set"):
        reluflow.certify(biased, X, y, bias=1.0)
    layered = {"activation": "relu", "layers": [{"kind": "dense", "shape": [2, 2], "weights": np.array([[1.0, 1], [-1, -1]])},
                                                {"kind": "dense", "shape": [1, 2], "weights": [[1.0, -1.0]]}]}
    assert reluflow.certify(layered, X, y).layers is not None


def test_test_data():
    X, y = datasets.orthant(n=60, d=5)
    run = reluflow.train(X[:40], y[:40], steps=50, test=(X[40:], y[40:]))
    assert 0 <= run.test_error <= 1
    with pytest.raises(ValueError, match="not among the training data"):
        reluflow.train(X[:40], y[:40], steps=5, test=(X[40:], y[40:] + 7))


def test_report_and_pictures(tmp_path):
    reluflow.explain("gen:DS-PL2", width=6, report=tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text().startswith("<!")
    reluflow.inspect("gen:DS-PL2", svg=tmp_path / "pictures")
    assert (tmp_path / "pictures" / "plane.svg").exists()


@pytest.mark.parametrize("command, data, options", COMMANDS)
def test_plots(command, data, options):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    result = getattr(reluflow, command)(data, **options)
    result.plot()
    arrays = getattr(reluflow, command)(*datasets.load(data), **options)
    figure, ax = pyplot.subplots()
    assert arrays.plot(ax) is ax
    pyplot.close("all")


def long_call():
    """Something of many seconds."""
    X, y = datasets.gaussian(n=60, d=12, seed=1)
    return reluflow.maxmargin(X, y, progress=False)


def test_time_limit_gives_a_partial_result():
    X, y = datasets.gaussian(n=60, d=12, seed=1)
    began = time.monotonic()
    best = reluflow.maxmargin(X, y, time=0.3)
    assert time.monotonic() - began < 5
    assert best.exit_code == 130 and best.library_status is reluflow.Status.INTERRUPTED
    assert best.global_.objective is None or best.global_.lower <= best.global_.objective  # none found yet is an answer too


@pytest.mark.parametrize("call", [
    long_call,
    lambda: reluflow.flow("gen:gaussian,n=300,d=100", width=1000, scale=1.0, progress=False),
    lambda: reluflow.train("gen:orthant", steps=10**8, progress=False),
    lambda: reluflow.inspect("gen:gaussian,n=60,d=12", detail="full", progress=False),
], ids=["maxmargin", "flow", "train", "inspect"])
def test_keyboard_interrupt(call):
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        latency = time.monotonic() - sent[0]
    finally:
        timer.cancel()
    assert latency < 1.0, latency  # 0.2 s on a quiet machine; printed below
    print(f"interrupted after {latency:.3f} s")


def test_the_gil_is_released():
    ticks = []
    done = threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=count)
    thread.start()
    X, y = datasets.gaussian(n=60, d=12, seed=1)
    reluflow.maxmargin(X, y, time=0.5)
    done.set()
    thread.join()
    assert len(ticks) > 20


def test_progress_callback():
    seen = []
    X, y = datasets.orthant(n=60, d=5, seed=1)
    reluflow.flow(X, y, width=20, progress=lambda phase, fraction, detail: seen.append((phase, fraction, detail)))
    assert seen and all(isinstance(phase, str) and isinstance(fraction, float) for phase, fraction, _ in seen)

    def broken(*_):
        raise LookupError("from the callback")

    with pytest.raises(LookupError, match="from the callback"):
        reluflow.flow(X, y, width=20, progress=broken)


def test_threads_give_the_same_as_one():
    jobs = [lambda s=s: reluflow.flow(f"gen:orthant,n=40,d=5,seed={s}", width=8, threads=2) for s in range(4)]
    jobs += [lambda s=s: reluflow.maxmargin(f"gen:gaussian,n=16,d=4,seed={s}") for s in range(4)]
    alone = [without_clock(job().to_dict()) for job in jobs]
    together = [None] * len(jobs)

    def work(first):
        for k in range(first, len(jobs), 2):
            together[k] = without_clock(jobs[k]().to_dict())

    for _ in range(3):
        threads = [threading.Thread(target=work, args=(first,)) for first in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert together == alone


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def test_a_thousand_calls_do_not_leak():
    X, y = datasets.orthant(n=60, d=10)

    def calls(count):
        for k in range(count):
            reluflow.inspect(X, y)
            reluflow.maxmargin(X, y)
            if k % 10 == 0:
                reluflow.flow(X, y, width=6, verdict=0)
                with pytest.raises(reluflow.UsageError):
                    reluflow.flow(X, y, loss="none")
        gc.collect()
        return resident()

    first = calls(100)
    last = calls(1000)
    print(f"resident after 100 calls {first / 2**20:.1f} MiB, after 1,100 {last / 2**20:.1f} MiB")
    assert last - first < 4 * 2**20


def test_native_refuses_nonsense():
    with pytest.raises(ValueError, match="no such command"):
        _native.run("nothing", [], None, None, None, None)
    with pytest.raises(TypeError):
        _native.run("inspect", ["memory:data"], (np.zeros((2, 2), np.float32), np.zeros(2, np.int32), ["a"]), None, None, None)
    with pytest.raises(ValueError, match="differ in length"):
        _native.run("inspect", ["memory:data"], (np.zeros((2, 2)), np.zeros(3, np.int32), ["a"]), None, None, None)
    code, status, text, *_ = _native.run("inspect", ["memory:data"], (np.ones((2, 2)), np.array([0, 5], np.int32), ["a"]), None, None, None)
    assert (code, status) == (2, -2) and "class number" in text
    assert _native.run("inspect", ["memory:data"], None, None, None, None)[0] == 2
    with pytest.raises(TypeError):
        _native.Block()


def test_explore(tmp_path):
    """The explorer with a result's data and start inside; a small page stands in for the one that ./bootstrap web builds."""
    page = tmp_path / "page.html"
    page.write_text('<body><script id="given" type="application/json">null</script></body>')
    X, y = np.array([[1.0, 0.1], [-0.5, 2.0], [-1.0, -1.0]]), np.array([1, 1, -1])
    answer = reluflow.flow(X, y, width=4, scale=1e-3, seed=7)
    made = answer.explore(tmp_path / "out.html", show=False, page=page)
    assert made.path.read_text() == page.read_text().replace("null", json.dumps({"link": made.link}, separators=(",", ":")))
    assert made.link.startswith("points=1,0.1,+;-0.5,2,+;-1,-1,-&width=4&") and "seed=7" in made.link and "scale=0.001" in made.link
    assert "srcdoc" in made._repr_html_()
    with pytest.raises(reluflow.UsageError, match="not the page|was not built|400"):
        reluflow.explore("gen:orthant,n=500,d=3", path=tmp_path / "large.html", show=False, page=page)


def test_proofs(tmp_path):
    """result.proof(path) writes a file that the checker accepts, for every kind of result that has one."""
    best = reluflow.maxmargin("gen:DS-PL2", leak=0.25)
    record = best.proof(tmp_path / "best.proof")
    assert record.claim == "optimum" and record.accepted and record.verdict.startswith("accepted optimum ")
    assert record.lower <= best.global_.objective * (1 + 1e-12) and os.path.exists(record.file)
    what = reluflow.certify(best.network, "gen:DS-PL2")
    record = what.proof(tmp_path / "kkt.proof")
    assert record.claim == "kkt" and os.path.exists(tmp_path / "kkt.proof.optimum")
    records = reluflow.explain("gen:DS-PL2", width=8).proof(tmp_path / "all")
    assert [record.claim for record in records][0] == "optimum" and all(record.accepted for record in records)
    loaded = pickle.loads(pickle.dumps(best))
    assert loaded.proof(tmp_path / "again.proof").upper == best.proof(tmp_path / "best.proof").upper
    assert sorted(os.listdir(tmp_path)) == ["again.proof", "all", "best.proof", "kkt.proof", "kkt.proof.optimum"]
