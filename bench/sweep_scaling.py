"""How far does one writer reach? A simulation of the scheduler of `reluflow sweep` under MPI, from measured costs.

Rank 0 serves one message at a time: it takes a result, writes its row and sends the next cell; every half second it
commits. Every other rank has two cells ahead. Cells are handed out by falling expected cost, which is right up to a factor.
    python3 bench/sweep_scaling.py [STORE.db]       costs of cells: those of a store, or lognormal
"""
import heapq
import math
import random
import sqlite3
import sys

WRITER = 95e-6  # s per result: bench_sweep, column "writer"
COMMIT = 5e-3  # s per commit
EVERY = 0.5  # s between commits
LATENCY = 20e-6  # s, one way, a message of some hundred bytes
GUESS = 0.5  # sigma of ln(true cost / expected cost)


def shapes(path=None):
    """Costs relative to their mean."""
    if path:
        costs = [row[0] for row in sqlite3.connect(path).execute("select seconds from cells where seconds > 0")]
    else:
        rng = random.Random(1)
        costs = [math.exp(rng.gauss(0, 1.0)) for _ in range(20000)]
    mean = sum(costs) / len(costs)
    return [cost / mean for cost in costs]


def efficiency(ranks, cells, mean, shape, writer=WRITER, batch=1, seed=0):
    """Work done over the processor time that was there; and the share of the time that the writer was busy."""
    rng = random.Random(seed)
    true = [mean * shape[rng.randrange(len(shape))] for _ in range(cells)]
    order = sorted(true, key=lambda cost: -cost * math.exp(rng.gauss(0, GUESS)))
    jobs = [sum(order[k:k + batch]) for k in range(0, len(order), batch)]
    workers, at = ranks - 1, 0
    free = [0.0] * workers  # when the worker will have nothing left
    arrivals, clock, busy, commits = [], 0.0, 0.0, EVERY
    for _ in range(2):  # two jobs ahead for everybody
        for worker in range(workers):
            if at < len(jobs):
                clock += LATENCY / 4
                free[worker] = max(free[worker], clock + LATENCY) + jobs[at]
                heapq.heappush(arrivals, (free[worker] + LATENCY, worker))
                at += 1
    while arrivals:
        arrived, worker = heapq.heappop(arrivals)
        clock = max(clock, arrived)
        service = writer * batch
        if clock > commits:
            service += COMMIT
            commits = clock + EVERY
        clock += service
        busy += service
        if at < len(jobs):
            free[worker] = max(free[worker], clock + LATENCY) + jobs[at]
            heapq.heappush(arrivals, (free[worker] + LATENCY, worker))
            at += 1
    return sum(true) / (clock * workers), busy / clock


def main():
    shape = shapes(sys.argv[1] if len(sys.argv) > 1 else None)
    print(f"writer {WRITER * 1e6:.0f} us a row; a cell of 1 s saturates it at {1 / WRITER:.0f} ranks")
    print(f"{'ranks':>8} {'mean cell':>10} {'cells':>9} {'efficiency':>11} {'writer busy':>12}")
    for ranks, per_worker in ((16, 400), (1000, 100), (10000, 40), (100000, 20)):
        for mean in (0.02, 0.2, 2.0, 20.0):
            cells = (ranks - 1) * per_worker
            share, busy = efficiency(ranks, cells, mean, shape)
            print(f"{ranks:8d} {mean:8.2f} s {cells:9d} {share:10.1%} {busy:11.1%}", flush=True)


if __name__ == "__main__":
    main()
