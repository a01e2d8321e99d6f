"""Proof files of everything that is solved: written by the program, read by both checkers.

    bench/proofs.py [GROUP...] [--random N] [--seconds S] [--keep FILE]

Groups: catalogue golden iris digits cancer random; all without one. Each case is one run of `maxmargin --proof` with S seconds
(20); what ends as optimal or infeasible (of the linear question: separable or inseparable) must be accepted by rfcheck and by
reluflow.checker, with a bracket of at most 1e-8. --keep appends one JSON line per case to FILE and skips cases that are there,
so that a long run may be cut into pieces. Times are CPU seconds of whole processes. Exit status 1 when a file is rejected, or the checkers differ.
"""
import csv
import glob
import importlib.util
import json
import math
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("RELUFLOW", os.path.join(ROOT, "build-bench", "reluflow"))
RFCHECK = os.path.join(os.path.dirname(PROGRAM), "rfcheck")
GROUPS = ("catalogue", "golden", "iris", "digits", "cancer", "random")


def load_checker():
    spec = importlib.util.spec_from_file_location("checker", os.path.join(ROOT, "python", "reluflow", "checker.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.set_int_max_str_digits(0)
    return module


CHECKER = load_checker()


def write_rows(path, X, y):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([[repr(float(v)) for v in row] + [int(label)] for row, label in zip(X, y)])


def random_rows(rng):
    """Rows and labels of one of nine families, n <= 12, d <= 5."""
    n, d, family = rng.randint(2, 12), rng.randint(1, 5), rng.randrange(9)
    X = [[rng.gauss(0, 1) for _ in range(d)] for _ in range(n)]
    y = [rng.choice((-1, 1)) for _ in range(n)]
    if family == 1:  # an integer grid
        X = [[float(rng.randint(-2, 2)) for _ in range(d)] for _ in range(n)]
    elif family == 2:  # copies, some mirrored, labels at random
        for i in range(1, n):
            if rng.random() < 0.5:
                X[i] = [rng.choice((-1, 1)) * v for v in X[rng.randrange(i)]]
    elif family == 3:  # rows of very different sizes
        X = [[v * size for v in row] for row in X for size in [10 ** rng.uniform(-6, 6)]]
    elif family == 4:  # columns of very different sizes
        sizes = [10 ** rng.uniform(-6, 6) for _ in range(d)]
        X = [[v * size for v, size in zip(row, sizes)] for row in X]
    elif family == 5:  # nearly equal rows
        X = [[v + rng.gauss(0, 1e-9) for v in X[rng.randrange(max(1, n // 2))]] for _ in range(n)]
    elif family == 6:  # on one line, or nearly
        X = [[X[0][j] * row[0] + rng.choice((0, 1e-8)) * row[j] for j in range(d)] for row in X]
    elif family == 7:  # separable by the first coordinate
        y = [1 if row[0] > 0 else -1 for row in X]
    elif family == 8:  # opposite orthants
        X = [[label * abs(v) for v in row] for row, label in zip(X, y)]
    y[0], y[-1] = 1, -1
    return X, y


def random_cases(count, folder):
    for k in range(count):
        rng = random.Random(k + 1)
        X, y = random_rows(rng)
        leak = rng.choice((0, 0, 0.1, 0.5, 1, round(rng.random(), 3)))
        signs = rng.choice(("both", "both", "both", "+", "-"))
        path = os.path.join(folder, "random.csv")
        write_rows(path, X, y)
        yield f"random {k + 1}", path, ["--linear"] if rng.random() < 0.15 else [f"--leak={leak}", f"--signs={signs}"]


def cases_of(group, options, folder):
    data = os.path.join(ROOT, "data")
    if group == "catalogue":
        listing = subprocess.run([PROGRAM, "data", "list"], capture_output=True, text=True).stdout
        for name in re.findall(r"^gen:([a-z-]+)", listing, re.M):
            if name in ("axes-classes", "multiclass-orthant", "digits"):  # more than two classes; needs MNIST
                continue
            for leak in ("0", "0.25"):
                yield f"gen:{name} leak {leak}", f"gen:{name}", [f"--leak={leak}"]
    elif group == "golden":
        for file in sorted(glob.glob(os.path.join(ROOT, "tests", "golden", "convex", "*.json"))):
            with open(file) as text:
                case = json.load(text)
            if "X" in case and "y" in case:
                path = os.path.join(folder, "golden.csv")
                write_rows(path, case["X"], case["y"])
                yield os.path.basename(file), path, [f"--leak={case.get('alpha', 0)}"]
    elif group == "iris":
        for pair in ("0,1", "0,2", "1,2"):
            yield f"iris {pair}", os.path.join(data, "iris.csv"), ["--classes", pair]
    elif group == "digits":
        for a in range(10):
            for b in range(a + 1, 10):
                yield f"digits {a},{b}", os.path.join(data, "digits8x8.csv"), ["--classes", f"{a},{b}"]
    elif group == "cancer":
        for words in ([], ["--standardize"], ["--standardize", "--limit", "40"]):
            yield f"breast cancer {' '.join(words)}".strip(), os.path.join(data, "breast_cancer.csv"), words
    else:
        yield from random_cases(options["random"], folder)


def run_timed(command):
    """The finished process and the CPU seconds it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def check_both(path):
    run, seconds = run_timed([RFCHECK, path])
    start = time.process_time()
    with open(path, "rb") as file:
        status, line = CHECKER.check(file)
    return run.returncode, run.stdout.strip(), status, line, seconds, time.process_time() - start


def run_case(group, name, path, words, options, folder):
    proof = os.path.join(folder, "case.proof")
    if os.path.exists(proof):
        os.unlink(proof)
    command = [PROGRAM, "maxmargin", path, "--json", "--quiet", f"--time={options['seconds']}", f"--proof={proof}", *words]
    done, seconds = run_timed(command)
    result = {"group": group, "case": name, "status": "failed", "message": done.stderr.strip()[-200:]}
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return result
    best, written = answer["global"], answer["proof"]
    linear = "--linear" in words
    result["status"] = ("separable" if answer["linear"]["separable"] else "inseparable") if linear else best["status"]
    result["solver"] = seconds
    if not written:
        return result
    code, ours, status, theirs, rf_seconds, py_seconds = check_both(proof)
    lower, upper = written["lower"], written["upper"]
    bracket = 0 if not lower or not upper or not math.isfinite(upper) else (upper - lower) / upper
    result.update(claim=written["claim"], bytes=written["bytes"], write=written["seconds"], rfcheck=rf_seconds, python=py_seconds,
                  accepted=code == 0 and status == 0, same=(code, ours) == (status, theirs), verdict=ours, bracket=bracket)
    return result


def table(rows):
    print("| cases | solved | proof files | accepted by both | widest bracket of the solved | largest file | rfcheck / program, median (share below 1) | "
          "rfcheck, longest | Python, longest |")
    print("|---|---|---|---|---|---|---|---|---|")
    for group in GROUPS:
        mine = [row for row in rows if row["group"] == group]
        solved = [row for row in mine if row["status"] in ("optimal", "infeasible", "separable", "inseparable")]
        proofs = [row for row in mine if "bytes" in row]
        both = [row for row in solved if "bytes" in row]
        if not mine:
            continue
        ratios = [row["rfcheck"] / row["solver"] for row in both if row["solver"] > 0]
        below = sum(ratio < 1 for ratio in ratios) / max(1, len(ratios))
        ratio = f"{statistics.median(ratios):.2f} ({100 * below:.0f} %)" if ratios else "-"
        print(f"| {group}: {len(mine)} | {len(solved)} | {len(proofs)} | {sum(row['accepted'] for row in proofs)} | "
              f"{max((row['bracket'] for row in both), default=0):.1e} | {max((row['bytes'] for row in proofs), default=0) / 1e6:.3g} MB | "
              f"{ratio} | {max((row['rfcheck'] for row in proofs), default=0):.2g} s | {max((row['python'] for row in proofs), default=0):.2g} s |")


def complain(rows):
    """What must not be; returns how often."""
    wrong = 0
    for row in rows:
        solved = row["status"] in ("optimal", "infeasible", "separable", "inseparable")
        if "bytes" in row and not (row["accepted"] and row["same"]):
            wrong += 1
            print(f"{row['case']}: {row['verdict']}")
        elif solved and "bytes" not in row:
            print(f"{row['case']}: {row['status']}, no proof file: {row['message']}")
        elif solved and row["bracket"] > 1e-8:
            print(f"{row['case']}: {row['status']}, bracket {row['bracket']:.1e}")
        elif row["status"] == "failed":
            wrong += 1
            print(f"{row['case']}: {row['message']}")
    return wrong


def main(words):
    options = {"random": 2000, "seconds": 20.0, "keep": None}
    groups = []
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            options[word[2:]] = type(options[word[2:]] or "")(words.pop(0))
        else:
            groups.append(word)
    rows = []
    if options["keep"] and os.path.exists(options["keep"]):
        with open(options["keep"]) as file:
            rows = [json.loads(line) for line in file]
    known = {(row["group"], row["case"]) for row in rows}
    with tempfile.TemporaryDirectory() as folder:
        for group in groups or GROUPS:
            for name, path, flags in cases_of(group, options, folder):
                if (group, name) in known:
                    continue
                rows.append(run_case(group, name, path, flags, options, folder))
                if options["keep"]:
                    with open(options["keep"], "a") as file:
                        file.write(json.dumps(rows[-1]) + "\n")
    table(rows)
    return 1 if complain(rows) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
