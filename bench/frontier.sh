#!/usr/bin/env bash
# bench/run frontier [--seconds S] [--only TEXT] [--one]: the proved optimum at the sizes where it begins to be hard. One run of each case with one thread
# (and with --one only that) and one with two: wall time, the processor time of the busiest thread (what the wall time is on a machine that is otherwise quiet) and of
# all threads, how much sooner two threads end, and whether the goal of the row was met by two of them. --seconds is the limit of one run where the row's own is not longer.
# RF_BEFORE names the program of an earlier commit: its processor time stands beside, from the same run, and the ratio; it is given ten times the time.
# The table is kept in bench/results/frontier.txt, from where docs/benchmarks.md takes it.
set -eu
cd "$(dirname "$0")/.."
export RELUFLOW=${RELUFLOW:-$PWD/build/reluflow}
mkdir -p bench/results
python3 - "$@" <<'PY' | tee bench/results/frontier.txt
import json, os, random, subprocess, sys, tempfile, time

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


# the gap asked for and the seconds it may take with two threads; None: no goal
goals = {(80, 10): (1e-8, 15), (150, 5): (1e-8, 15), (300, 3): (1e-8, 15), (500, 2): (1e-8, 15), (60, 60): (1e-3, 120), (1000, 2): (1e-3, 120), (100, 10): (1e-8, 360)}
cases = [(*gaussian(*size), goals.get(size)) for size in
         ((60, 10), (100, 5), (40, 40), (80, 10), (150, 5), (300, 3), (500, 2), (60, 60), (1000, 2))]
cases.append(("linear teacher, 10 % flipped (100,10)", [flipped(folder + "/flipped.csv")], (1e-8, 60)))
cases.append(("digits 1/8, leak 0.1 (356,64)", ["data/digits8x8.csv", "--classes", "1,8", "--divide", "16", "--leak", "0.1"], (1e-8, 60)))
cases.append((*gaussian(100, 10), goals[100, 10]))
tick = os.sysconf("SC_CLK_TCK")


def threads_of(pid, used):
    """Processor seconds of every thread of a running process."""
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            used[task] = (int(fields[11]) + int(fields[12])) / tick
    except OSError:
        pass  # it has ended


def run(program, data, threads, limit):
    """Wall seconds, processor seconds of the busiest thread and of all, gap and lower bound."""
    words = [program, "maxmargin", *data, "--json", "--threads", str(threads), "--time", str(limit)]
    start, used = time.monotonic(), {}
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(words, stdout=out, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            threads_of(process.pid, used)
            time.sleep(0.02 if time.monotonic() - start < 1 else 0.1)
        wall = time.monotonic() - start
        out.seek(0)
        try:
            best = json.load(out)["global"]
        except (ValueError, KeyError):
            best = {"gap": None, "lower": None}
    return wall, max(used.values(), default=0), sum(used.values()), best["gap"], best["lower"]


def text(value):
    return "-" if value is None else f"{value:.1e}"


print(f"{'':40} {'one thread':^26} {'two threads':^32} {'sooner by':^15}")
print(f"{'data':40} {'gap':>8} {'wall':>8} {'cpu':>8} {'gap':>8} {'wall':>7} {'busiest':>7} {'all':>7} {'wall':>7} {'cpu':>7}  goal")
for name, data, goal in cases:
    if not any(part in name for part in only.split("|")):
        continue
    limit = max(seconds, 1.2 * goal[1] if goal else 0)
    wall, used, _, gap, lower = run(now, data, 1, 2 * limit)
    line = f"{name:40} {text(gap):>8} {wall:8.2f} {used:8.2f}"
    if "--one" not in words:
        wall2, busiest, both, gap2, lower2 = run(now, data, 2, limit)
        line += f" {text(gap2):>8} {wall2:7.2f} {busiest:7.2f} {both:7.2f} {wall / max(wall2, 0.01):7.2f} {used / max(busiest, 0.01):7.2f}"
        if goal:
            met = gap2 is not None and gap2 <= goal[0] and wall2 <= goal[1]
            line += f"  {goal[0]:.0e} in {goal[1]} s: {'met' if met else 'NOT MET'}"
        if None not in (gap, gap2) and max(gap, gap2) <= 1e-8 and lower != lower2:
            line += "  differs by threads"
    if before:
        _, _, old, old_gap, _ = run(before, data, 1, min(seconds, max(20, 10 * used)))
        line += f"  before: gap {text(old_gap)}, {old:.2f} s, ratio {old / max(used, 0.01):.2f}"
    print(line, flush=True)
PY
