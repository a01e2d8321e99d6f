"""Mutated proof files: python mutations.py RFCHECK CHECKER COUNT SEED [FILE...].

Makes proofs of every kind (proofs.py; and takes the files named), changes each in one of the ways of MUTATIONS, and asks
both checkers. Fails when they do not agree on every word, when an unchanged proof is not accepted, or when a file is
accepted whose claim is false (judged here from the text of the file by evaluating the statements themselves)."""

import collections
import importlib.util
import io
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction as F

import proofs

NUMBER = re.compile(r"-?0x[0-9a-f.]+p[+-]?\d+|-?\d+(?:/\d+)?")


def value(text):
    match = re.match(r"(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]?\d+)$", text)
    if not match:
        return F(text)
    part = match.group(3) or ""
    size = F(int(match.group(2) + part, 16)) * F(2) ** (int(match.group(4)) - 4 * len(part))
    return -size if match.group(1) else size


def numbers_of(lines):
    """(line, start, end) of every number in a place where one belongs (not labels, signs and indices)."""
    places = []
    for k, line in enumerate(lines):
        if line[:1] == "#" or k < 2:
            continue
        for match in re.finditer(r"(?<=[ :])(-?0x[0-9a-f.]+p[+-]?\d+|-?\d+/\d+|-?\d+)(?= |$|:)", line):
            places.append((k, match.start(), match.end()))
    return places


def edit(lines, place, text):
    k, start, end = place
    lines[k] = lines[k][:start] + text + lines[k][end:]


def change_number(change):
    def mutate(lines, rng):
        places = numbers_of(lines)
        place = rng.choice(places)
        edit(lines, place, change(lines[place[0]][place[1] : place[2]], rng))

    return mutate


def ulp(direction):
    def change(text, rng):
        exact = value(text)
        if abs(exact) > 10**300:
            return text
        return math.nextafter(float(exact), direction * math.inf).hex()

    return change


def change_line(words, change):
    """Changes one line that begins with one of `words`; leaves the file alone when there is none."""

    def mutate(lines, rng):
        found = [k for k, line in enumerate(lines) if line.split(" ")[0] in words]
        if found:
            k = rng.choice(found)
            lines[k] = change(lines[k], rng)

    return mutate


def swap(words):
    def mutate(lines, rng):
        found = [k for k, line in enumerate(lines) if not words or line.split(" ")[0] in words]
        if len(found) > 1:
            i, j = rng.sample(found, 2)
            lines[i], lines[j] = lines[j], lines[i]

    return mutate


def drop(words):
    def mutate(lines, rng):
        found = [k for k, line in enumerate(lines) if not words or line.split(" ")[0] in words]
        if found:
            del lines[rng.choice(found)]

    return mutate


def drop_child(lines, rng):
    """A split and one of its subtrees: the other one alone stays."""
    splits = [k for k, line in enumerate(lines) if line.startswith("s ")]
    if not splits:
        return
    start = rng.choice(splits)

    def end_of(k):
        open_nodes = 1
        while open_nodes and k < len(lines):
            open_nodes += {"s": 1, "e": -1, "n": -1}.get(lines[k].split(" ")[0], 0)
            k += 1
        return k

    first = end_of(start + 1)
    second = end_of(first)
    if rng.random() < 0.5:
        lines[start:second] = lines[start + 1 : first]
    else:
        lines[start:second] = lines[first:second]


def scale(words, factor):
    """Every number of one line of these words times a factor: an unsound solver."""

    def change(line, rng):
        tokens = line.split(" ")
        first = 2 if tokens[0] in ("x", "u") else 1
        return " ".join(tokens[:first] + [NUMBER.sub(lambda m: str(value(m.group()) * factor), t) if ":" not in t and t != "/"
                                          else t for t in tokens[first:]])

    return change_line(words, change)


def chord(line, rng):
    """The constant of every chord times 0.999."""
    return re.sub(r"( \d+:[^: ]+:)([^ ]+)", lambda m: m.group(1) + str(value(m.group(2)) * F(999, 1000)), line)


def bad_bound(lines, rng):
    for k, line in enumerate(lines):
        word = line.split(" ")[0]
        if word in ("lower", "upper", "epsilon", "delta") and rng.random() < 0.5:
            up = word == "lower"
            lines[k] = word + " " + str(value(line.split(" ")[1]) * (F(10001, 10000) if up else F(9999, 10000)))


def any_byte(lines, rng):
    text = bytearray("\n".join(lines).encode())
    text[rng.randrange(len(text))] = rng.choice((0, 9, 13, 32, 35, 43, 45, 47, 48, 49, 58, 64, 97, 127, 200, 255))
    lines[:] = bytes(text).decode("latin-1").split("\n")


def respell(text, rng):
    """The same number in another way: nothing may change."""
    exact = value(text)
    return str(exact) if rng.random() < 0.5 and exact.denominator < 10**300 else text


MUTATIONS = {
    "sign of a number": change_number(lambda t, rng: t[1:] if t[0] == "-" else "-" + t),
    "one ulp up": change_number(ulp(1)), "one ulp down": change_number(ulp(-1)),
    "zero": change_number(lambda t, rng: "0"),
    "not a number": change_number(lambda t, rng: rng.choice(("nan", "inf", "-inf", "1.5", "1e3", "0x1p", "0x.8p0", "", "+1", "0X1P0"))),
    "zero denominator": change_number(lambda t, rng: t.split("/")[0].split("p")[0].replace("0x", "").split(".")[0] + "/0"),
    "huge exponent": change_number(lambda t, rng: rng.choice(("", "-")) + "0x1p" + rng.choice("+-") + rng.choice(("20000", "20001", "999999999999"))),
    "long number": change_number(lambda t, rng: rng.choice(("9" * 20000, "1" * 20001, "0x1." + "3" * 19000 + "p+0", "1/" + "7" * 9000))),
    "another number": change_number(lambda t, rng: str(rng.randint(-3, 9))),
    "half": change_number(lambda t, rng: str(value(t) / 2)), "double": change_number(lambda t, rng: str(value(t) * 2)),
    "other spelling": change_number(respell),
    "label": change_line(("x",), lambda l, rng: l.replace("x +1", "x -1") if "+1" in l else l.replace("x -1", "x +1")),
    "sign of a neuron": change_line(("u",), lambda l, rng: l.replace("u +1", "u -1") if "+1" in l else l.replace("u -1", "u +1")),
    "wrong side": change_line(("m",), lambda l, rng: l[:-1] + ("-" if l[-1] == "+" else "+")),
    "h for l": change_line(("h", "l"), lambda l, rng: ("l" if l[0] == "h" else "h") + l[1:]),
    "split elsewhere": change_line(("s", "m", "h", "l"), lambda l, rng: re.sub(r"^(. )\d+", rf"\g<1>{rng.randint(0, 6)}", l)),
    "another index": change_line(("h", "l", "e", "c", "n"), lambda l, rng: re.sub(r" (@?)\d+:", rf" \g<1>{rng.randint(0, 6)}:", l, count=1)),
    "cap outside its path": change_line(("h", "l", "e", "n"), lambda l, rng: l + f" @{rng.randint(0, 3)}:{rng.randint(0, 2)}"),
    "term dropped": change_line(("h", "l", "e", "c", "n"), lambda l, rng: l.rsplit(" ", 1)[0]),
    "no slash": change_line(("e",), lambda l, rng: l.replace(" /", "")),
    "swapped rows": swap(("x",)), "swapped lines": swap(()), "swapped leaves": swap(("e", "n")),
    "dropped line": drop(()), "dropped leaf": drop(("e", "n")), "dropped child": drop_child,
    "repeated line": lambda lines, rng: lines.insert((k := rng.randrange(len(lines))), lines[k]),
    "extra line": lambda lines, rng: lines.append(rng.choice(("qed", "", "# more", "s 0"))),
    "extra token": lambda lines, rng: lines.__setitem__((k := rng.randrange(len(lines))), lines[k] + " 1"),
    "space": lambda lines, rng: lines.__setitem__((k := rng.randrange(len(lines))), rng.choice((" ", "")) + lines[k].replace(" ", "  ", 1)),
    "truncated": lambda lines, rng: lines.__setitem__(slice(rng.randrange(len(lines)), None), []),
    "truncated line": lambda lines, rng: lines.__setitem__(slice((k := rng.randrange(len(lines))), None), [lines[k][: len(lines[k]) // 2]]),
    "any byte": any_byte,
    "claim": change_line(("claim",), lambda l, rng: "claim " + rng.choice(("optimum", "separable", "inseparable", "infeasible", "kkt", "best"))),
    "a name that every object has": change_line(("claim", "data", "lambda", "u"), lambda l, rng: rng.choice(("claim ", "")) + rng.choice(("toString", "__proto__", "constructor", "valueOf"))),
    "signs": change_line(("signs",), lambda l, rng: "signs " + rng.choice(("both", "+", "-"))),
    "leak": change_line(("leak",), lambda l, rng: "leak " + rng.choice(("0", "1", "1/2", "2", "-1/2", "0x1p-30"))),
    "size": change_line(("data", "neurons", "network"), lambda l, rng: re.sub(r"\d+", lambda m: str(int(m.group()) + rng.choice((-1, 1))), l, count=1)),
    "false bound": bad_bound,
    "chord x 0.999": change_line(("e", "c"), chord), "lambda x 1.001": scale(("lambda", "alpha", "farkas"), F(1001, 1000)),
    "slope": scale(("h",), F(99, 100)), "weights of a neuron": scale(("u", "n", "w"), F(99, 100)),
}


# ---- the judge: is the claim of an accepted file true? ---------------------------------------------------------------


def false_claim(text, rng):
    """Why the claim is false, or None. Values are recomputed from the meaning of the words, not from the rules."""
    lines = [line.split(" ") for line in text.split("\n") if line and line[0] != "#"]
    first = {line[0]: line[1:] for line in reversed(lines)}
    claim, leak = first["claim"][0], value(first["leak"][0])
    rows = [(int(line[1]), [value(t) for t in line[2:]]) for line in lines if line[0] == "x"]
    y, x = [r[0] for r in rows], [r[1] for r in rows]
    d = len(x[0])
    slack = F(1, 10**9)
    if not 0 <= leak <= 1:
        return "leak"
    if claim in ("inseparable", "infeasible"):
        weight = [value(t) for t in first["alpha" if claim == "inseparable" else "farkas"]]
        if min(weight) < 0 or not any(weight):
            return "multipliers"
        only = {"both": 0, "+": 1, "-": -1}[first["signs"][0]] if claim == "infeasible" else 0
        total = [sum(w * s * row[j] for w, s, row in zip(weight, y, x)) for j in range(d)]
        if claim == "inseparable":
            return "the sum is not 0" if any(total) else None
        for _ in range(50):
            u = [F(rng.randint(-9, 9), rng.randint(1, 9)) for _ in range(d)]
            force = sum(w * s * proofs.phi(proofs.dot(u, row), leak) for w, s, row in zip(weight, y, x))
            if (force * only > 0) if only else force != 0:
                return "a neuron gains"
        return None
    if claim == "separable":
        w = [value(t) for t in first["w"][:-1]]
        least = min(s * proofs.dot(w, row) for s, row in zip(y, x))
        lower, upper = value(first["lower"][0]), value(first["upper"][0])
        weight = [value(t) for t in first["alpha"][:-1]]
        total = [sum(a * s * row[j] for a, s, row in zip(weight, y, x)) for j in range(d)]
        if least <= 0 or lower <= 0 or (lower * lower) * proofs.dot(w, w) > least * least * (1 + slack):
            return "L"
        bad = min(weight) < 0 or sum(weight) <= 0 or upper < 0 or proofs.dot(total, total) > (upper * sum(weight)) ** 2 * (1 + slack)
        return "U" if bad else None
    weight = [value(t) for t in first["lambda"]]
    if min(weight) < 0:
        return "lambda"
    if claim == "kkt":
        return false_kkt(lines, first, y, x, weight, leak, slack)
    only = {"both": 0, "+": 1, "-": -1}[first["signs"][0]]
    lower, tau = value(first["lower"][0]), value(first["tau"][0])
    if sum(weight) < lower * tau:
        return "L"
    for s in (only,) if only else (1, -1):
        if proofs.largest(x, y, s, weight, leak, d, rng) > float(tau) * (1 + 1e-9):
            return "a neuron gains more than tau"
    if "upper" in first:
        network = [(int(line[1]), [value(t) for t in line[2 : 2 + d]]) for line in lines if line[0] == "u"]
        q = [s * sum(a * proofs.phi(proofs.dot(u, row), leak) for a, u in network) for s, row in zip(y, x)]
        size = sum(F(math.sqrt(proofs.dot(u, u))) for _, u in network)
        if min(q) <= 0 or size > value(first["upper"][0]) * min(q) * (1 + slack) or (only and any(a != only for a, _ in network)):
            return "U"
    return None


def false_kkt(lines, first, y, x, weight, leak, slack):
    network = [(value(line[1]), [value(t) for t in line[2:]]) for line in lines if line[0] == "n"]
    slopes = [[value(t) for t in line[1:]] for line in lines if line[0] == "h"]
    size = sum(a * a + proofs.dot(w, w) for a, w in network)
    q = [s * sum(a * proofs.phi(proofs.dot(w, row), leak) for a, w in network) for s, row in zip(y, x)]
    kink = value(first["kink"][0]) if "kink" in first else F(0)
    square = F(0)
    for (a, w), h in zip(network, slopes):
        for i, row in enumerate(x):
            z = proofs.dot(w, row)
            if h[i] != (1 if z > 0 else leak):
                if not leak <= h[i] <= 1 or z * z > kink * kink * proofs.dot(w, w) * proofs.dot(row, row):
                    return "slope"
        r = [v - a * sum(weight[i] * y[i] * h[i] * x[i][j] for i in range(len(x))) for j, v in enumerate(w)]
        rest = a - sum(weight[i] * y[i] * proofs.phi(proofs.dot(w, x[i]), leak) for i in range(len(x)))
        square += proofs.dot(r, r) + rest * rest
    epsilon, delta = value(first["epsilon"][0]), value(first["delta"][0])
    if min(q) < 1 or epsilon < 0 or delta < 0 or square > epsilon**2 * size:
        return "stationarity"
    return "complementarity" if 2 * sum(w * (m - 1) for w, m in zip(weight, q)) > delta * size else None


# ---- the run -----------------------------------------------------------------------------------------------------------


def load(path):
    spec = importlib.util.spec_from_file_location("checker", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Page:
    """The checker of the explorer under node, one file after the other."""

    SERVE = """
const checker = require(process.argv[1]), fs = require("fs");
require("readline").createInterface({input: process.stdin}).on("line", (path) => {
  const {status, line} = checker.check(fs.readFileSync(path));
  console.log(status + " " + line);
});"""

    def __init__(self, script):
        self.process = subprocess.Popen(["node", "-e", self.SERVE, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, path):
        self.process.stdin.write(path + "\n")
        self.process.stdin.flush()
        status, _, line = self.process.stdout.readline().rstrip("\n").partition(" ")
        return int(status), line


def main(rfcheck, checker_path, count, seed, *files):
    checker = load(checker_path)
    script = os.environ.get("RF_PAGE_CHECKER")
    page = Page(script) if script and shutil.which("node") else None
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    outcome, kinds, failures, unjudged = collections.Counter(), collections.defaultdict(collections.Counter), 0, 0
    sources = [open(name, encoding="ascii").read().split("\n")[:-1] for name in files]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "proof")

        def ask(content, label):
            nonlocal failures
            with open(path, "wb") as file:
                file.write(content)
            status, line = checker.check(io.BytesIO(content))
            run = subprocess.run([rfcheck, path], capture_output=True, text=True, check=False)
            same = run.returncode == status and run.stdout.split(":")[0].strip() == line.split(":")[0].strip()
            if not same or (status == 0 and run.stdout.strip() != line):
                failures += 1
                print(f"{label}: the checkers differ: {line!r} ({status}), {run.stdout!r} ({run.returncode})")
                keep(content, failures)
            if page:
                theirs = page.ask(path)
                if theirs != (status, line):
                    failures += 1
                    print(f"{label}: the page's checker differs: {line!r} ({status}), {theirs!r}")
                    keep(content, failures)
            return status, line

        made = 0
        while sum(outcome.values()) < int(count):
            rng = random.Random(f"{seed} {made}")
            kind = rng.choice(("optimum", "optimum", "optimum", "separable", "inseparable", "infeasible", "kkt"))
            made += 1
            try:
                base = rng.choice(sources) if sources and rng.random() < 0.5 else proofs.MAKERS[kind](rng)
            except ValueError:
                continue
            if ask(("\n".join(base) + "\n").encode(), "unchanged")[0] != 0:
                failures += 1
                print(f"{kind} {seed} {made}: an unchanged proof is not accepted")
                keep(("\n".join(base) + "\n").encode(), failures)
            for name in rng.sample(sorted(MUTATIONS), 6):
                lines = list(base)
                MUTATIONS[name](lines, rng)
                content = ("\n".join(lines) + "\n").encode("latin-1")
                status, line = ask(content, name)
                outcome[status] += 1
                kinds[name][status] += 1
                try:
                    why = false_claim(content.decode("latin-1"), rng) if status == 0 else None
                except OverflowError:  # numbers that no double holds: left to the agreement of the checkers
                    why = None
                    unjudged += 1
                if why:
                    failures += 1
                    print(f"{name} {seed} {made}: accepted, but false: {why}")
                    keep(content, failures)
    if page:
        page.process.stdin.close()
        page.process.wait()
    print(f"{len(kinds)} kinds, {outcome[0]} accepted and true ({unjudged} too large to judge), {outcome[1]} rejected, {outcome[2]} malformed, {failures} failures")
    if os.environ.get("RF_MUTATION_TABLE"):
        for name in sorted(kinds):
            print(f"  {name:22} {kinds[name][0]:5} {kinds[name][1]:5} {kinds[name][2]:5}")
    return 1 if failures else 0


def keep(content, number):
    folder = os.environ.get("RF_MUTATION_KEEP")
    if folder:
        with open(os.path.join(folder, f"failure-{number}"), "wb") as file:
            file.write(content)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
