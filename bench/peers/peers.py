"""One table: what each program reaches, how exactly and how fast, per capability, on the same inputs, one thread, one run. Printed, and
written with the versions into docs/benchmarks.md, between the lines BEGIN and END; what stands outside them stays. `bench/run peers` runs
it. A peer that is not installed is a row that says so."""
import importlib.metadata, json, os, pathlib, platform, subprocess, sys, tempfile, time, warnings
import numpy as np

warnings.filterwarnings("ignore")
PROGRAM, ROOT = os.environ["RELUFLOW"], pathlib.Path(__file__).resolve().parents[2]
STEPS = int(os.environ.get("RF_BENCH_STEPS", "20000"))
BEGIN, END = "<!-- begin: written by bench/run peers, do not edit -->", "<!-- end: written by bench/run peers -->"
rows = []  # (capability, input, program, what it reached, error or None, seconds or None)


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def program(command, X, y, *words):
    """Our result and its wall time, from arrays through a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "data.npz")
        np.savez(path, X=X, y=np.asarray(y, float))
        start = time.perf_counter()
        text = subprocess.run([PROGRAM, command, path, "--json", "--threads", "1", *words], capture_output=True, text=True).stdout
        return json.loads(text), time.perf_counter() - start


def add(capability, data, name, reached, error, seconds):
    rows.append((capability, data, name, reached, error, seconds))
    shown = "" if error is None else f"{max(error, 0):.1e}"
    clock = "" if seconds is None else f"{seconds:.3g}"
    print(f"{capability:22} {data:26} {name:36} {reached:44} {shown:>9} {clock:>8}", flush=True)


def attempt(capability, data, name, job):
    """A peer that is not installed or gives up is a row too."""
    start = time.perf_counter()
    try:
        reached, error = job()
        add(capability, data, name, reached, error, time.perf_counter() - start)
    except Exception as failure:  # noqa: BLE001: whatever a peer raises is its answer
        add(capability, data, name, f"no result: {type(failure).__name__}: {str(failure).splitlines()[0][:60] if str(failure) else ''}", None, None)


# ---- hard margin --------------------------------------------------------------------------------

def hard_margin():
    n, d = 1000, 20
    rng = np.random.default_rng(1)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w > 0, 1.0, -1.0)
    X = X + 0.1 * y[:, None] * w
    capability, data = "hard margin", f"{n} x {d}, through the origin"
    ours, seconds = program("maxmargin", X, y, "--linear")
    best = ours["linear"]["margin"]
    reached = f"margin with multipliers, KKT residual {ours['linear']['stationarity']:.0e}"
    add(capability, data, "reluflow maxmargin --linear", reached, 0.0, seconds)

    def judged(v):
        return "margin of the w returned", 1 - float((y * (X @ v)).min() / np.linalg.norm(v)) / best

    def best_of(solve, settings):
        """The most exact of several settings, with the time of that one alone."""
        answers = []
        for setting in settings:
            start = time.perf_counter()
            error = judged(solve(setting))[1]
            answers.append((error, time.perf_counter() - start, setting))
        return min(answers)

    def linear_svc(setting):
        from sklearn.svm import LinearSVC
        loss, dual = setting
        return LinearSVC(C=1e10, loss=loss, dual=dual, fit_intercept=False, tol=1e-12, max_iter=200000, random_state=0).fit(X, y).coef_[0]

    def liblinear(kind):
        from liblinear.liblinearutil import train
        model = train(y.tolist(), X.tolist(), f"-s {kind} -c 1e10 -e 1e-12 -q")
        return np.array([model.get_decfun_coef(k + 1, 0) for k in range(d)]) * (1 if model.get_labels()[0] == 1 else -1)

    def tried(name, solve, settings, shown):
        try:
            error, seconds, setting = best_of(solve, settings)
            add(capability, data, name, f"margin of the w returned; best of {len(settings)}: {shown(setting)}", error, seconds)
        except ImportError as missing:
            add(capability, data, name, f"no result: {missing}", None, None)

    def libsvm():
        from sklearn.svm import SVC
        return judged(SVC(kernel="linear", C=1e10, tol=1e-10).fit(mirrored, labels).coef_[0])

    def clarabel():
        import cvxpy as cp
        v = cp.Variable(d)
        cp.Problem(cp.Minimize(cp.sum_squares(v) / 2), [cp.multiply(y, X @ v) >= 1]).solve(solver=cp.CLARABEL)
        return judged(v.value)

    mirrored, labels = np.vstack([X, -X]), np.r_[y, -y]  # libsvm always fits an intercept; mirrored data force it to zero
    tried("scikit-learn LinearSVC, tol 1e-12", linear_svc, [("squared_hinge", True), ("squared_hinge", False), ("hinge", True)], lambda k: k[0].replace("_", " "))
    attempt(capability, data, "scikit-learn SVC, tol 1e-10", libsvm)
    tried("liblinear, eps 1e-12", liblinear, [1, 2, 3], lambda k: f"-s {k}")
    attempt(capability, data, "CVXPY + Clarabel", clarabel)


# ---- the best network ---------------------------------------------------------------------------

def sampled_patterns(X, rng):
    S = X @ rng.standard_normal((X.shape[1], 200000)) > 0
    return [np.array(p, float) for p in {tuple(column) for column in S.T.tolist()}]


def best_network():
    n, d = 10, 3
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    capability, data = "best network", f"{n} x {d}, random labels"
    ours, seconds = program("maxmargin", X, y)
    best = ours["global"]
    add(capability, data, "reluflow maxmargin", f"optimum with proof, gap {best['gap']:.0e}", 0.0, seconds)

    def clarabel():
        import cvxpy as cp
        patterns = sampled_patterns(X, rng)
        U = [cp.Variable(d) for _ in range(2 * len(patterns))]
        f, conditions = 0, []
        for k, D in enumerate(patterns):
            for sign, u in ((1, U[2 * k]), (-1, U[2 * k + 1])):
                f = f + sign * cp.multiply(D, X @ u)
                conditions.append(cp.multiply(2 * D - 1, X @ u) >= 0)
        value = cp.Problem(cp.Minimize(sum(cp.norm(u) for u in U)), [*conditions, cp.multiply(y, f) >= 1]).solve(solver=cp.CLARABEL)
        return f"all {len(patterns)} patterns enumerated", abs(value / best["objective"] - 1)

    def scnn():
        from scnn.optimize import optimize
        from scnn.regularizers import NeuronGL1
        model, _ = optimize("relu", 400, X, y, regularizer=NeuronGL1(1e-4), unitize_data=False, dtype="float64", verbose=False)
        q = y * np.asarray(model(X)).ravel()
        W, a = (np.asarray(part) for part in model.parameters)
        a = a.ravel()
        size = np.sum(np.linalg.norm(W, axis=1) * np.abs(a))
        return "squared loss + 1e-4 sum |u|, sampled patterns", 1 - float(q.min()) / (2 * size) / best["margin"]

    def descent():
        import torch
        torch.set_num_threads(1)
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(d, 50, bias=False), torch.nn.ReLU(), torch.nn.Linear(50, 1, bias=False)).double()
        inputs, labels = torch.tensor(X), torch.tensor(y)
        optimizer = torch.optim.Adam(net.parameters(), 1e-2)
        for _ in range(STEPS):
            optimizer.zero_grad()
            torch.nn.functional.softplus(-labels * net(inputs)[:, 0]).sum().backward()
            optimizer.step()
        with torch.no_grad():
            norm = sum(float((p**2).sum()) for p in net.parameters())
            return f"Adam, {STEPS} steps, 50 neurons: its margin", 1 - float((labels * net(inputs)[:, 0]).min()) / norm / best["margin"]

    attempt(capability, data, "CVXPY + Clarabel", clarabel)
    attempt(capability, data, "scnn", scnn)
    attempt(capability, data, "PyTorch", descent)


# ---- the limit of gradient flow -----------------------------------------------------------------

def limit_of_flow():
    n, d, m, scale = 500, 20, 100, 1e-2
    capability, data = "limit of gradient flow", f"{n} x {d}, {m} neurons"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "orthant.npz")
        subprocess.run([PROGRAM, "data", "make", "gen:orthant", "-o", path, "--quiet"], check=True)
        stored = np.load(path)
        X, y = stored["X"], stored["y"].astype(float)
    facts, _ = program("inspect", X, y)
    best = 1 / (2 * (facts["positive"]["norm"] + facts["negative"]["norm"]))  # Phuong and Lampert: w+ and w-
    for words in (("--scale", "1e-2"), ("--scale", "1e-6"), ("--scale", "limit")):
        ours, seconds = program("flow", X, y, "--width", str(m), *words)
        add(capability, data, f"reluflow flow {' '.join(words)}", f"t = infinity, {ours['limit']['status']}", abs(1 - ours["limit"]["margin"] / best), seconds)
    def peers():
        """Field, judge and start for both of them."""
        import torch
        torch.set_num_threads(1)
        generator = torch.Generator().manual_seed(0)
        start = torch.randn(m, d, generator=generator, dtype=torch.float64)
        W0 = scale * start / start.norm(dim=1, keepdim=True)
        a0 = scale * (torch.randint(0, 2, (m,), generator=generator) * 2.0 - 1).double()
        inputs, labels = torch.tensor(X), torch.tensor(y)

        def field(W, a):
            H = inputs @ W.T
            R = torch.relu(H)
            r = labels * torch.sigmoid(-labels * (R @ a))
            return ((H > 0) * a * r[:, None]).T @ inputs, R.T @ r

        def judged(W, a):
            q = labels * (torch.relu(inputs @ W.T) @ a)
            return 1 - float(q.min() / ((W**2).sum() + (a**2).sum())) / best

        return torch, field, judged, W0, a0

    def descent():
        torch, field, judged, W, a = peers()
        with torch.no_grad():
            for _ in range(STEPS):
                gW, ga = field(W, a)
                W, a = W + 0.1 / n * gW, a + 0.1 / n * ga
        return f"gradient descent, {STEPS} steps", judged(W, a)

    def adaptive():
        torch, field, judged, W0, a0 = peers()
        from torchdiffeq import odeint
        with torch.no_grad():
            W, a = odeint(lambda t, s: field(*s), (W0, a0), torch.tensor([0.0, 30.0], dtype=torch.float64), method="dopri5", rtol=1e-6, atol=1e-8)
        return "dopri5 to t = 30", judged(W[-1], a[-1])

    attempt(capability, data, "PyTorch", descent)
    attempt(capability, data, "torchdiffeq", adaptive)


# ---- training -----------------------------------------------------------------------------------

def training():
    n, d, m = 500, 20, 100
    capability, data = "gradient descent", f"{n} x {d}, {m} neurons, double"
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((n, d)), np.where(rng.random(n) < 0.5, 1.0, -1.0)
    ours, _ = program("train", X, y, "--width", str(m), "--steps", "20000", "--rate", "1e-4")
    add(capability, data, "reluflow train", f"{ours['steps_per_second']:,.0f} steps/s", None, 20000 / ours["steps_per_second"])

    def steps(write):
        import torch
        torch.set_num_threads(1)
        W, a = torch.tensor(rng.standard_normal((m, d))), torch.tensor(rng.standard_normal(m))
        inputs, labels = torch.tensor(X), torch.tensor(y)
        if not write:
            W.requires_grad_(), a.requires_grad_()
        count, start = 2000, time.perf_counter()
        for _ in range(count):
            if write:
                with torch.no_grad():
                    H = inputs @ W.T
                    R = torch.relu(H)
                    r = labels * torch.sigmoid(-labels * (R @ a))
                    W, a = W + 1e-4 * ((H > 0) * a * r[:, None]).T @ inputs, a + 1e-4 * (R.T @ r)
            else:
                loss = torch.nn.functional.softplus(-labels * (torch.relu(inputs @ W.T) @ a)).sum()
                gradients = torch.autograd.grad(loss, (W, a))
                with torch.no_grad():
                    W -= 1e-4 * gradients[0]
                    a -= 1e-4 * gradients[1]
        return count, time.perf_counter() - start

    for write, name in ((True, "PyTorch, gradient by hand"), (False, "PyTorch, autograd")):
        try:
            count, seconds = steps(write)
            add(capability, data, name, f"{count / seconds:,.0f} steps/s", None, 20000 * seconds / count)
        except ImportError as missing:
            add(capability, data, name, f"no result: {missing}", None, None)


def kernels():
    """Every kernel of training beside PyTorch's, in this run (bench/peers/train.py); without PyTorch ours alone."""
    here = pathlib.Path(__file__).parent
    found = subprocess.run([sys.executable, str(here / "train.py")], capture_output=True, text=True)
    if found.returncode:
        found = subprocess.run([os.path.join(os.environ["RF_BUILD"], "bench_train")], capture_output=True, text=True)
        found.stdout += "\nPyTorch is not installed: no ratios\n"
    print(found.stdout, flush=True)
    return found.stdout.rstrip().splitlines()


# ---- the page -----------------------------------------------------------------------------------

def page(detail):
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine())
    ours = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout.strip()
    packages = ("numpy", "scikit-learn", "liblinear-official", "cvxpy", "clarabel", "pyscnn", "torch", "torchdiffeq")
    versions = ", ".join([ours, f"Python {platform.python_version()}", *(f"{p} {version(p) or '(not installed)'}" for p in packages)])
    lines = [BEGIN, "", f"One run, {time.strftime('%Y-%m-%d')}: same inputs, one thread; ratios matter, not seconds.", "",
             f"Machine: {cpu}, load {os.getloadavg()[0]:.1f} at the start. Versions: {versions}.", "",
             "*Error* is relative: of the margin against the exact one (hard margin), of the objective or the normalised margin against the proved optimum (best network),",
             "of the normalised margin against the limit that theory gives (limit of gradient flow). *Seconds* of reluflow include starting the program and reading the file.",
             "", "| capability | input | program | what it reached | error | seconds |", "|---|---|---|---|---|---|"]
    for capability, data, name, reached, error, seconds in rows:
        lines.append(f"| {capability} | {data} | {'**' + name + '**' if name.startswith('reluflow') else name} | {reached.replace('|', '/')} | "
                     f"{'' if error is None else f'{max(error, 0):.1e}'} | {'' if seconds is None else f'{seconds:.3g}'} |")
    lines += ["", "Honest limits: the peers solve other problems too. LinearSVC, liblinear and SVC handle millions of sparse rows with soft margins; scnn trains regularised networks at",
              "scale with a squared loss; PyTorch and torchdiffeq follow any model. None of them gives the limit at t = ∞, a certificate, or the optimum over all widths with a proof."]
    lines += ["", "## Training, kernel by kernel", "", "From the same run.", "", "```text", *detail, "```", "", END]
    target = ROOT / "docs" / "benchmarks.md"
    before, _, rest = target.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        sys.exit(f"{target}: the lines {BEGIN} and {END} are gone")
    target.write_text(before + "\n".join(lines) + after)


if __name__ == "__main__":
    print(f"{'capability':22} {'input':26} {'program':36} {'what it reached':44} {'error':>9} {'seconds':>8}")
    for part in (hard_margin, best_network, limit_of_flow, training):
        part()
    page(kernels())
    print("written: docs/benchmarks.md")
