"""The files that bench_reader wrote, through pandas, numpy and scikit-learn, next to our times."""
import os
import time
import warnings

import numpy
import pandas
from sklearn.datasets import load_svmlight_file

warnings.filterwarnings("ignore")
folder = os.environ.get("RF_BENCH_DIR", "/tmp/reluflow-bench-reader")


def seconds(job):
    start = time.process_time()
    job()
    return time.process_time() - start


def pandas_csv(path):
    table = pandas.read_csv(path, header=None, float_precision="round_trip").to_numpy(dtype=float)
    return table[:, :-1], table[:, -1]


def pandas_fast(path):
    return pandas.read_csv(path, header=None).to_numpy(dtype=float)


def numpy_text(path):
    return numpy.loadtxt(path, delimiter=",")


def svmlight(path):
    X, y = load_svmlight_file(path)
    return X.toarray(), y


readers = {
    "csv": [("pandas, exact", pandas_csv), ("pandas", pandas_fast), ("numpy.loadtxt", numpy_text)],
    "svm": [("load_svmlight_file", svmlight)],
}
print(f"{'file':28s} {'MB':>6s} {'reader':20s} {'MB/s':>8s} {'ours MB/s':>10s} {'ours is faster by':>18s}")
for line in open(os.path.join(folder, "ours.tsv")):
    path, name, ours, size = line.rstrip("\n").split("\t")
    if float(size) > 200:
        continue
    for title, reader in readers[path.rsplit(".", 1)[1]]:
        taken = seconds(lambda: reader(path))
        print(f"{name:28s} {float(size):6.0f} {title:20s} {float(size) / taken:8.1f} "
              f"{float(size) / float(ours):10.1f} {taken / float(ours):17.1f}x", flush=True)
