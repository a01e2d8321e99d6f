"""Sweeps from Python: the same words, the same table."""
import math
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

import reluflow


def test_columns_and_values(tmp_path):
    store = tmp_path / "runs.db"
    cells = reluflow.sweep("flow", "gen:orthant,n={6,8},d=2", scale=[1e-2, "limit"], seed=range(2), width=4, store=store, workers=2)
    assert len(cells["id"]) == 8
    assert set(cells["scale"]) == {0.01, "limit"} or set(map(str, cells["scale"])) == {"0.01", "limit"}
    rows = sqlite3.connect(store).execute('select n, seed, "limit.margin", command from cells order by id').fetchall()
    assert [row[2] for row in rows] == list(cells["limit.margin"])
    for n, seed, margin, command in rows:
        if "scale=limit" in command:
            alone = reluflow.flow(f"gen:orthant,n={n},d=2", scale="limit", seed=seed, width=4)
            assert alone.limit.margin == margin or (math.isnan(margin) and alone.limit.margin is None)


def test_arrays_lists_and_ranges():
    X, y = np.array([[1.0, 1], [1, -1], [-1, -1], [-1, 1]]), [1, -1, 1, -1]
    cells = reluflow.sweep("maxmargin", (X, y), leak=np.array([0, 0.5]))
    assert len(cells["id"]) == 2
    cells = reluflow.sweep("flow", "gen:xor", seed="0..5..5", width=[4, 6], zip="seed,width")
    assert list(cells["seed"]) == [0, 5] and list(cells["width"]) == [4, 6]


def test_errors_are_pythons():
    with pytest.raises(reluflow.UsageError, match="column 4"):
        reluflow.sweep("flow", "gen:xor", seed="0..")
    with pytest.raises(TypeError, match="outlives"):
        reluflow.sweep("flow", (np.eye(2), [1, -1]), store="x.db")


def test_plot(tmp_path):
    cells = reluflow.sweep("flow", "gen:xor", seed=range(4), width=[3, 5], store=tmp_path / "x.db")
    picture = cells.plot(x="width", y="limit.status=converged")
    assert picture.svg.startswith("<?xml") and "<title>" in picture.svg


def test_pandas_reads_the_store(tmp_path):
    pandas = pytest.importorskip("pandas")
    reluflow.sweep("flow", "gen:xor", seed=range(3), width=4, store=tmp_path / "x.db")
    cells = pandas.read_sql("select * from cells", sqlite3.connect(tmp_path / "x.db"))
    assert list(cells["seed"]) == [0, 1, 2] and "limit.margin" in cells


def test_without_pandas(tmp_path):
    script = ("import sys; sys.modules['pandas'] = None; import reluflow; "
              f"cells = reluflow.sweep('flow', 'gen:xor', scale=[1e-2, 'limit'], seed=range(2), width=4, store={str(tmp_path / 'y.db')!r}); "
              "print(type(cells).__name__, cells['seed'].dtype, cells['limit.margin'].dtype, cells['scale'].tolist(), cells['error'].tolist()); "
              "cells.plot(x='scale', y='limit.margin')")
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert run.stdout.startswith("Table int64 float64 [0.01, 0.01, 'limit', 'limit']"), run.stdout + run.stderr
