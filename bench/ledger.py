#!/usr/bin/env python3
"""bench/ledger.py [CLAIM...] [--seeds 0,1000003,...] [--jobs K] [--limit S] [--stop S] [--heavy] [--out DIR]

The table claim x seed of the ledger, one process for every cell. RELUFLOW names the program (build/reluflow), RELUFLOW_DATA the
folder with mnist/. A cell that takes more than --limit seconds of processor time (for each of its threads) is broken off and reads `time`; after --stop seconds no further
cell begins and those that run are broken off, so that the table is written. DIR (bench/results/ledger) keeps what has ended: the same command goes on
where it was stopped, and a program that has changed begins anew unless --keep is given.
  DIR/ledger.txt  claim x seed: a dot for a pass, otherwise the verdict; the largest processor time; below, what did not pass and why
  DIR/ledger.tsv  claim, seed, verdict, processor seconds, wall seconds, printed form, note
  DIR/runs.tar.gz the JSON of every cell
Seed 0 is the ledger's own. --heavy adds --heavy to every cell; --threads T gives each cell T threads (1). Ends with status 1 when a cell fails, 3 when none fails and one is not a pass."""
import argparse
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import tarfile
import threading
import time

SEEDS = "0,1000003,20240611,987654321,5000011,6000022,8000044,9000055,1071"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("claims", nargs="*")
    parser.add_argument("--seeds", default=SEEDS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--stop", type=float, default=1e9)
    parser.add_argument("--heavy", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--out", default="bench/results/ledger")
    return parser.parse_args()


def listed(program, names):
    """Ids of the claims: as named, then in the order of the ledger."""
    answer = subprocess.run([program, "verify", "--list", "--json"], capture_output=True, text=True)
    if answer.returncode:
        sys.exit(answer.stderr or "verify --list fails")
    known = [claim["id"] for claim in json.loads(answer.stdout)["claims"]]
    chosen = [id for id in known if not names or any(fnmatch.fnmatch(id, n) or id.startswith(n + "-") for n in names)]
    return sorted(chosen, key=lambda id: names.index(id) if id in names else len(names))


class Cells:
    """Runs cells, keeps what has ended."""

    def __init__(self, program, words):
        self.program, self.words = program, words
        self.start, self.lock, self.known = time.monotonic(), threading.Lock(), {}
        os.makedirs(words.out + "/runs", exist_ok=True)
        with open(program, "rb") as file:
            self.version = hashlib.sha256(file.read()).hexdigest()[:16]

    def path(self, claim, seed):
        return f"{self.words.out}/runs/{claim}-{seed}{'-heavy' if self.words.heavy else ''}.json"

    def kept(self, claim, seed):
        """A cell that has ended before, by this program."""
        try:
            with open(self.path(claim, seed)) as file:
                cell = json.load(file)
        except (OSError, ValueError):
            return None
        return cell if self.words.keep or cell.get("program") == self.version else None

    def run(self, claim, seed):
        left = self.words.stop - (time.monotonic() - self.start)
        cell = self.kept(claim, seed)
        if cell is None and left < 1:
            cell = {"id": claim, "verdict": "left", "note": "not begun"}
        elif cell is None:
            cell = self.fresh(claim, seed, min(left, 1e6))
            if cell["verdict"] != "time" or cell["cpu"] >= self.words.limit:  # otherwise it was --stop that broke it off
                with open(self.path(claim, seed), "w") as file:
                    json.dump(cell, file)
        with self.lock:
            self.known[claim, seed] = cell
            print(f"{len(self.known):5d} {claim:8s} {seed:>10s} {cell['verdict']:10s} {cell.get('cpu', 0):7.1f} s", flush=True)

    def fresh(self, claim, seed, left):
        command = [self.program, "verify", claim, "--threads", str(self.words.threads), "--quiet", "--json"]
        command += ["--seed", seed] if seed != "0" else []
        command += ["--heavy"] if self.words.heavy else ["--quick"] if self.words.quick else []
        begin = time.monotonic()
        with open(self.path(claim, seed) + ".out", "w+") as out, open(self.path(claim, seed) + ".err", "w+") as err:
            spent = int(self.words.limit * self.words.threads) + 1
            limited = ["bash", "-c", f'ulimit -t {spent}; exec "$@"', "cell", *command]
            child = subprocess.Popen(limited, stdout=out, stderr=err)
            alarm = threading.Timer(left, child.send_signal, [signal.SIGKILL])
            alarm.start()
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = status
            alarm.cancel()
            broken = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGKILL, signal.SIGXCPU)
            out.seek(0), err.seek(0)
            text, complaint = out.read(), err.read()
        os.remove(out.name), os.remove(err.name)
        cell = {"id": claim, "verdict": "time" if broken else "crash", "note": f"status {status}: {complaint[-300:]}"}
        if not broken:
            try:
                cell = json.loads(text)["claims"][0]
            except (ValueError, KeyError, IndexError):
                pass
        cell.update(program=self.version, cpu=used.ru_utime + used.ru_stime, wall=time.monotonic() - begin)
        return cell


def write(cells, claims, seeds):
    """The table and the list; what did not pass."""
    out, wrong = cells.words.out, []
    with open(out + "/ledger.tsv", "w") as file:
        file.write("claim\tseed\tverdict\tcpu\twall\tprinted_form\tnote\n")
        for claim in claims:
            for seed in seeds:
                cell = cells.known.get((claim, seed), {"verdict": "left"})
                note = (cell.get("note") or "").replace("\t", " ").replace("\n", " ")
                file.write(f"{claim}\t{seed}\t{cell['verdict']}\t{cell.get('cpu', 0):.2f}\t{cell.get('wall', 0):.2f}\t{cell.get('printed_form')}\t{note}\n")
                if cell["verdict"] not in ("pass", "skipped"):
                    wrong.append((claim, seed, cell))
    lines = ["claim     " + " ".join(f"{seed:>10s}" for seed in seeds) + "   cpu s"]
    for claim in claims:
        row = [cells.known.get((claim, seed), {"verdict": "left"}) for seed in seeds]
        shown = " ".join(f"{'.' if c['verdict'] == 'pass' else c['verdict']:>10s}" for c in row)
        lines.append(f"{claim:10s}{shown} {max(c.get('cpu', 0) for c in row):7.1f}")
    lines.append("cpu s     " + " ".join(f"{sum(cells.known.get((c, s), {}).get('cpu', 0) for c in claims):10.0f}" for s in seeds))
    for claim, seed, cell in wrong:
        lines.append(f"{claim} at {seed}: {cell['verdict']}: {cell.get('note')}")
        if cell.get("compared"):
            lines.append(f"    {cell['compared']}: predicted {cell['predicted']}, observed {cell['observed']}, error {cell['error']}, allowed {cell['tolerance']}")
    count = {}
    for cell in cells.known.values():
        count[cell["verdict"]] = count.get(cell["verdict"], 0) + 1
    lines.append(", ".join(f"{number} {verdict}" for verdict, number in sorted(count.items())))
    with open(out + "/ledger.txt", "w") as file:
        file.write("\n".join(lines) + "\n")
    with tarfile.open(out + "/runs.tar.gz", "w:gz") as tar:
        tar.add(out + "/runs", "runs")
    return lines, wrong


def main():
    words = arguments()
    program = os.environ.get("RELUFLOW", os.path.join(os.path.dirname(os.path.abspath(__file__)), "../build/reluflow"))
    os.environ.setdefault("OMP_NUM_THREADS", str(words.threads)), os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    claims, seeds = listed(program, words.claims), words.seeds.split(",")
    cells = Cells(program, words)
    slow = {line.split(",")[0]: float(line.split(",")[1]) for line in COSTS.split()}
    order = [(c, s) for s in seeds for c in claims]
    if not words.heavy:  # the longest first; heavy ones as named
        order.sort(key=lambda cell: -slow.get(cell[0], 1))
    with concurrent.futures.ThreadPoolExecutor(words.jobs) as pool:
        list(pool.map(lambda cell: cells.run(*cell), order))
    lines, wrong = write(cells, claims, seeds)
    print("\n".join(lines))
    print(f"{time.monotonic() - cells.start:.0f} s with {words.jobs} jobs, children {resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime:.0f} s of processor")
    sys.exit(1 if any(cell["verdict"] in ("fail", "crash") for _, _, cell in wrong) else 3 if wrong else 0)


# Processor seconds of the claims that take more than two: only the order depends on them.
COSTS = """MMV-30,56 MMV-20,44 MMV-31,27 MMV-32,29 VSS-03,16 WP-01,15 LLWA-40,11 VSS-19,10 MMV-21,10 VSS-05,9 VSS-01,9 NB-02,8 LLWA-41,8 LLWA-30,7
  VSS-12,7 PL-19,6 NB-10,6 MMV-16,5 PL-16,5 MMV-18,5 PL-14,5 NB-03,4 MMV-15,4 VSS-22,4 MMV-11,3 MMV-19,3 LLWA-29,3"""

if __name__ == "__main__":
    main()
