"""Sizes of more than 32 bits in the engine of the page, where a size_t has 32: sizes.py ENGINE_FOLDER.

Whatever is too large is refused with a line that names it, and nothing is cut to its low half: 2^32 + 1 is not 1."""

import json
import os
import re
import struct
import subprocess
import sys

import kit

BIG = 2**32 + 1
FAST = ["--verdict", "0", "--no-audit", "--once", "--json"]


def npy(items, shape):
    head = f"{{'descr': '{items}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + bytes(64)


FILES = {
    "points.csv": b"1,2,1\n2,1,-1\n", "wide.svm": f"+1 1:1 {BIG}:2\n-1 2:1\n".encode(),
    "long.npy": npy("<f8", (BIG, 2)), "square.npy": npy("<f8", (65537, 65537)), "texts.npy": npy(f"|S{BIG}", (1,)),
    "letters.npy": npy(f"<U{2**30 + 1}", (1,)), "images.idx": bytes((0, 0, 8, 3)) + struct.pack(">III", 2, 65536, 65537) + bytes(64),
    "product.npy": npy("<f8", (2**32, 2**32)), "good.npy": npy("<f8", (4, 2)),
}
# words, and what the error says
REFUSED = [
    (["flow", "gen:xor", "--width", BIG, *FAST], f"width {BIG}"),
    (["flow", "gen:xor", "--width", 2**29 + 1, *FAST], "out of memory"),
    (["flow", "gen:xor", "--width", 2**63 - 1, *FAST], "width"),
    (["explain", "gen:xor", "--width", BIG], f"width {BIG}"),
    (["flow", "gen:xor", "--width", 3, "--trace", BIG, *FAST], "out of memory for the trace"),
    (["data", "make", f"gen:gaussian,n={BIG},d=2", "-o", "made.csv"], str(BIG)),
    (["data", "make", f"gen:gaussian,n=2,d={BIG}", "-o", "made.csv"], str(BIG)),
    (["data", "make", "gen:gaussian,n=65537,d=65537", "-o", "made.csv"], "65537"),
    (["inspect", f"gen:orthant,n={BIG},d=2"], str(BIG)),
    (["data", "info", "wide.svm"], str(BIG)),
    *[(["data", "info", name, "--labels", "good.npy", *more], "")
      for name in ("long.npy", "square.npy", "product.npy", "images.idx") for more in ((), ("--memory", "64G"))],
    *[(["data", "info", "good.npy", "--labels", name, *more], "")
      for name in ("texts.npy", "letters.npy") for more in ((), ("--memory", "64G"))],
]


def main(folder):
    node, failures = kit.Node(folder), []
    files = {name: list(content) for name, content in FILES.items()}
    for words, part in REFUSED:
        answer = node.ask([str(word) for word in words], files)
        if answer["status"] not in (2, 3) or part not in answer["error"] or not re.search(r"\d{5}|out of memory|smaller array|plain type", answer["error"]):
            failures.append(f"{' '.join(map(str, words))}: status {answer['status']}, {answer['error']!r}")
    limits = {}
    for seed in (1, BIG):
        words = ["flow", "gen:planar", "--width", "3", "--seed", str(seed), *FAST]
        limits[seed] = json.loads(node.ask(words)["text"])["alignment"]
        there = json.loads(subprocess.run([os.environ["RELUFLOW"], *words], capture_output=True, text=True, check=False).stdout)["alignment"]
        if [n["destiny"] for n in limits[seed]["neurons"]] != [n["destiny"] for n in there["neurons"]]:
            failures.append(f"seed {seed}: not the start of the program")
    if limits[1] == limits[BIG]:
        failures.append(f"seed {BIG} is seed 1")
    answer = node.ask(["data", "info", "points.csv", "--limit", str(BIG), "--json"], files)
    if answer["status"] or json.loads(answer["text"])["n"] != 2:
        failures.append(f"--limit {BIG}: {answer['error']}")
    node.close()
    print("\n".join(failures) or f"{len(REFUSED)} sizes beyond 32 bits refused by name, {BIG} is nowhere taken for 1")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
