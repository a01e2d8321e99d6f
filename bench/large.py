"""Tables of bench/large.sh: one flow per row, both runs (the second opinion included), seconds of processor time."""
import argparse, gzip, itertools, json, math, os, subprocess, sys, tempfile, time

program = os.environ.get("RELUFLOW", "build/reluflow")


def flow(arguments, seconds, width=50, verdict=0):
    """The result, seconds of processor time, and the most memory in MB."""
    command = [program, "flow", *arguments, "--width", str(width), "--time", str(seconds), "--verdict", str(verdict),
               "--json", "--trace", "0", "--detail", "summary"]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        cpu, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
        try:
            return json.loads(out.read()), cpu, memory
        except ValueError:
            return {"failed": err.read().strip() or f"exit status {child.returncode}"}, cpu, memory


def number(value, form=".2g"):
    return "-" if value is None else format(value, form)


class Table:
    def __init__(self, markdown):
        self.markdown = markdown

    def head(self, title):
        print(f"\n### {title}\n" if self.markdown else f"\n{title}")
        self.row(["data", "n x d", "status", "margin", "groups", "KKT", "two runs", "audit", "steps", "seconds", "MB"])
        if self.markdown:
            print("|" + "---|" * 11)

    def row(self, cells):
        if self.markdown:
            print("| " + " | ".join(cells) + " |", flush=True)
        else:
            print(f"{cells[0]:<34s} {cells[1]:>11s} {cells[2]:<34s} {cells[3]:>14s} {cells[4]:>6s} {cells[5]:>8s} {cells[6]:>8s} {cells[7]:>6s} {cells[8]:>6s} {cells[9]:>8s} {cells[10]:>6s}",
                  flush=True)

    def flow(self, name, arguments, seconds, width=50):
        result, cpu, memory = flow(arguments, seconds, width)
        if "failed" in result:
            self.row([name, "-", result["failed"][:34], *["-"] * 6, f"{cpu:.1f}", f"{memory:.0f}"])
            return None, cpu, 0
        limit, audit = result["limit"], result["audit"]
        status = limit["status"] + (f": {limit['why']}" if limit["why"] else "")
        groups = limit["groups"]
        self.row([name, f"{result['n']} x {result['d']}", status[:60 if self.markdown else 34], number(limit["margin"], ".10g"),
                  str(len(groups)) if groups else "-", number(limit["kkt"]["stationarity"]), number(limit["direction_error"]),
                  "-" if not audit else "passed" if audit["passed"] else "failed", str(result["monitors"]["steps"]), f"{cpu:.1f}", f"{memory:.0f}"])
        return limit["status"], cpu, result["monitors"]["steps"]


def digits(table, seconds):
    table.head("Digits 8x8, all pairs (--divide 16), width 50, scale 1e-6")
    total, ended = 0, 0
    for a, b in itertools.combinations(range(10), 2):
        status, cpu, _ = table.flow(f"digits {a}/{b}", ["digits8x8.csv", "--classes", f"{a},{b}", "--divide", "16"], seconds)
        total, ended = total + cpu, ended + (status is not None and status != "interrupted")
    print(f"\n{ended} of 45 end; {total:.0f} s of processor time together")


def real(table, seconds):
    table.head("Breast cancer and iris, width 50, scale 1e-6")
    table.flow("breast cancer --standardize --bias 1", ["breast_cancer.csv", "--standardize", "--bias", "1"], seconds)
    for a, b in itertools.combinations(range(3), 2):
        table.flow(f"iris {a}/{b}", ["iris.csv", "--classes", f"{a},{b}"], seconds)
        table.flow(f"iris {a}/{b} --standardize --bias 1",
                   ["iris.csv", "--classes", f"{a},{b}", "--standardize", "--bias", "1"], seconds)


def slope(points):
    x = sum(p[0] for p in points) / len(points)
    y = sum(p[1] for p in points) / len(points)
    return sum((p[0] - x) * (p[1] - y) for p in points) / sum((p[0] - x) ** 2 for p in points)


def exponent(name, points):
    """Slopes over ln size by least squares, from the runs that ended: of the seconds, and of what they are made of, the steps of the run whose result
    counts and the seconds (of all runs) for each of them."""
    points = [(math.log(size), cpu, steps) for size, cpu, ended, steps in points if ended and cpu > 0 and steps > 0]
    if len(points) < 2:
        print(f"exponent in {name}: too few runs ended")
        return
    of = lambda value: slope([(p[0], math.log(value(p))) for p in points])
    print(f"seconds ~ {name}^{of(lambda p: p[1]):.1f}: steps ~ {name}^{of(lambda p: p[2]):.1f}, seconds per step ~ "
          f"{name}^{of(lambda p: p[1] / p[2]):.1f} ({len(points)} sizes)")


def random_labels(table, seconds):
    table.head("Random labels, Gaussian samples, scale 1e-6")
    ends = lambda status: status is not None and status != "interrupted"
    measured = {}
    for n, d, m in [(50, 10, 50), (100, 10, 50), (200, 10, 50), (500, 10, 50), (50, 50, 50), (50, 100, 50), (100, 10, 25), (100, 10, 100)]:
        status, cpu, steps = table.flow(f"n={n} d={d} m={m}", [f"gen:gaussian,n={n},d={d}"], seconds, m)
        measured[n, d, m] = (cpu, ends(status), steps)
    print()
    exponent("n", [(n, *measured[n, 10, 50]) for n in (50, 100, 200, 500)])
    exponent("d", [(d, *measured[50, d, 50]) for d in (10, 50, 100)])
    exponent("m", [(m, *measured[100, 10, m]) for m in (25, 50, 100)])


def wide(table, seconds):
    table.head("Wide networks, n = 8, d = 3, scale 1e-6")
    points = []
    for m in (1000, 10000, 100000):
        status, cpu, steps = table.flow(f"m={m}", ["gen:gaussian,n=8,d=3"], seconds, m)
        points.append((m, cpu, status is not None, steps))
    print()
    exponent("m", points)


def idx(folder, name, header):
    path = os.path.join(folder, name)
    data = gzip.open(path + ".gz").read() if os.path.exists(path + ".gz") else open(path, "rb").read()
    return data[header:]


def descent(torch, folder, a, b, seconds, width=50):
    """Normalised margin (at |theta| = 1) that full-batch gradient descent has reached after so many seconds: steps of length rate/loss, as fast as it
    goes without a fall of the rate, from a balanced start of size 0.01."""
    torch.set_num_threads(1)
    labels = torch.frombuffer(bytearray(idx(folder, "train-labels-idx1-ubyte", 8)), dtype=torch.uint8)
    images = torch.frombuffer(bytearray(idx(folder, "train-images-idx3-ubyte", 16)), dtype=torch.uint8).reshape(-1, 784)
    rows = (labels == a) | (labels == b)
    X, y = images[rows].float() / 255, torch.where(labels[rows] == b, 1.0, -1.0)
    generator = torch.Generator().manual_seed(0)
    W = torch.randn(width, 784, generator=generator)
    W = 0.01 * W / W.norm(dim=1, keepdim=True)
    s = 0.01 * torch.sign(torch.randn(width, generator=generator))
    W.requires_grad_(), s.requires_grad_()
    rate, last, steps, begin = 0.02, math.inf, 0, time.process_time()
    while time.process_time() - begin < seconds:
        loss = torch.nn.functional.softplus(-y * (torch.relu(X @ W.T) @ s)).mean()
        gw, gs = torch.autograd.grad(loss, (W, s))
        value = float(loss)
        rate = rate * 1.02 if value < last else rate * 0.5
        last, steps = value, steps + 1
        with torch.no_grad():
            length = rate / max(value, 1e-30)
            W -= length * gw
            s -= length * gs
    with torch.no_grad():
        margin = (y.double() * (torch.relu(X.double() @ W.double().T) @ s.double())).min()
        return float(margin / ((W.double() ** 2).sum() + (s.double() ** 2).sum())), steps


def mnist(table, seconds):
    table.head("MNIST, pixels/255, all training samples, width 50, scale 1e-6")
    folder = os.path.join(os.environ.get("RELUFLOW_DATA", "."), "mnist")
    if not os.path.isdir(folder):
        print("skipped: no MNIST (RELUFLOW_DATA)")
        return
    try:
        import torch
    except ImportError:
        torch = None
    spent = {}
    for a, b in ((0, 1), (3, 8), (4, 9)):
        spent[a, b] = table.flow(f"{a}/{b}", [f"gen:digits,a={a},b={b},center=0"], seconds)[1]
    print()
    if not torch:
        print("no torch: no margin of gradient descent beside these")
    for (a, b), cpu in spent.items() if torch else ():
        margin, steps = descent(torch, folder, a, b, cpu)
        print(f"{a}/{b}: PyTorch's gradient descent has margin {margin:.10g} after {steps} steps, {cpu:.0f} s", flush=True)


parts = {"digits": digits, "real": real, "random": random_labels, "wide": wide, "mnist": mnist}
parser = argparse.ArgumentParser()
parser.add_argument("--only", default=",".join(parts))
parser.add_argument("--seconds", type=float, default=600)
parser.add_argument("--markdown", action="store_true")
options = parser.parse_args()
for part in options.only.split(","):
    if part not in parts:
        sys.exit(f"--only: no table {part}; there are {', '.join(parts)}")
    parts[part](Table(options.markdown), options.seconds)
