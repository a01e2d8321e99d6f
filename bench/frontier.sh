#!/usr/bin/env bash
# bench/run frontier [--seconds S] [--only TEXT]: the proved optimum at the sizes where it begins to be hard. One run of each case with one thread and one with
# two; processor time, so that a busy machine does not count, and how evenly two threads shared it. RF_BEFORE names the program of an earlier commit:
# its processor time stands beside, from the same run, and the ratio; it is given ten times the time. The table is kept in bench/results/frontier.txt; docs/benchmarks.md holds a copy.
set -eu
cd "$(dirname "$0")/.."
export RELUFLOW=${RELUFLOW:-$PWD/build/reluflow}
mkdir -p bench/results
python3 - "$@" <<'PY' | tee bench/results/frontier.txt
import json, os, random, resource, subprocess, sys, tempfile

words = sys.argv[1:]
seconds = float(words[words.index("--seconds") + 1]) if "--seconds" in words else 120
only = words[words.index("--only") + 1] if "--only" in words else ""
now, before = os.environ["RELUFLOW"], os.environ.get("RF_BEFORE")
folder = tempfile.mkdtemp()


def flipped(path, n=100, d=10, seed=0):
    """A linear teacher whose labels are flipped with probability 0.1."""
    draw = random.Random(seed)
    w = [draw.gauss(0, 1) for _ in range(d)]
    with open(path, "w") as out:
        out.write(",".join(f"x{k}" for k in range(d)) + ",y\n")
        for _ in range(n):
            x = [draw.gauss(0, 1) for _ in range(d)]
            y = 1 if sum(a * b for a, b in zip(w, x)) > 0 else -1
            out.write(",".join(map(repr, x)) + f",{-y if draw.random() < 0.1 else y}\n")
    return path


def gaussian(n, d):
    return f"random labels ({n},{d})", [f"gen:gaussian,n={n},d={d}"]


cases = [gaussian(*size) for size in
         ((60, 10), (100, 5), (40, 40), (80, 10), (150, 5), (300, 3), (500, 2), (60, 60), (1000, 2), (100, 10))]
cases.append(("linear teacher, 10 % flipped (100,10)", [flipped(folder + "/flipped.csv")]))
cases.append(("digits 1/8, leak 0.1 (356,64)", ["data/digits8x8.csv", "--classes", "1,8", "--divide", "16", "--leak", "0.1"]))


def run(program, data, threads, limit=seconds):
    start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    words = [program, "maxmargin", *data, "--json", "--threads", str(threads), "--time", str(limit)]
    answer = subprocess.run(words, capture_output=True, text=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start
    try:
        best = json.loads(answer.stdout)["global"]
    except (ValueError, KeyError):
        return used, None, None
    return used, best["gap"], best["lower"]


def text(value):
    return "-" if value is None else f"{value:.1e}"


print(f"{'data':40} {'gap':>8} {'seconds':>8} {'two threads':>11} {'before: gap':>12} {'seconds':>8} {'ratio':>6}")
for name, data in cases:
    if not any(part in name for part in only.split("|")):
        continue
    used, gap, lower = run(now, data, 1)
    twice, again, other = run(now, data, 2)
    same = "" if gap is None or gap > 1e-8 or lower == other else "  differs by threads"
    line = f"{name:40} {text(gap):>8} {used:8.2f} {twice:11.2f}"
    if before:
        old, old_gap, _ = run(before, data, 1, min(seconds, max(20, 10 * used)))
        line += f" {text(old_gap):>12} {old:8.2f} {old / used:6.2f}"
    print(line + same, flush=True)
PY
